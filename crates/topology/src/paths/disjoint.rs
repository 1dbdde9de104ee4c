//! Disjoint paths of the least total length (Bhandari, "Optimal diverse routing in telecommunication fiber networks", INFOCOM 1994;
//! "Survivable Networks", 1999, chapters 3 and 7).
//!
//! Each search runs in a changed graph: the links of the paths so far lead backwards with negative length, and with node-disjoint
//! paths their nodes are split. A link that is taken in both directions then belongs to no path. Lengths are reduced by the
//! distances of the searches before, which makes them positive (Suurballe and Tarjan, 1984): Dijkstra's algorithm suffices. Two
//! disjoint paths may exist where none is disjoint from the shortest one; taking the shortest first and removing its links
//! misses them.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};

use super::{Length, Metric, UNREACHABLE};
use crate::graph::{Graph, LinkIndex, NodeIndex};

/// What disjoint paths do not share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Disjointness {
    /// Links, in either direction.
    Links,
    /// Nodes, except for the first and the last, and therefore links.
    Nodes,
}

impl Graph {
    /// `k` disjoint paths between two nodes with the least total length, the shortest first; as many as there are if there are fewer.
    /// Nodes that do not forward are on no path between others. There is no path between a node and itself.
    #[must_use]
    pub fn disjoint_paths(
        &self,
        from: NodeIndex,
        to: NodeIndex,
        k: usize,
        metric: Metric,
        disjointness: Disjointness,
    ) -> Vec<Vec<LinkIndex>> {
        let states = 2 * self.nodes().len();
        let mut flow = Flow {
            graph: self,
            metric,
            ends: [from, to],
            disjointness,
            used: BTreeSet::new(),
            used_into: BTreeMap::new(),
            potential: vec![0; states],
            lengths: vec![UNREACHABLE; states],
            over: vec![Step::Start; states],
        };
        if from != to {
            for _ in 0..k {
                if !flow.augment() {
                    break;
                }
            }
        }
        flow.paths()
    }
}

/// A node, or with node-disjoint paths one of its halves: where links arrive, or where they leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct State(usize);

impl State {
    fn arriving(node: NodeIndex) -> Self {
        Self(2 * node.index())
    }

    fn leaving(node: NodeIndex) -> Self {
        Self(2 * node.index() + 1)
    }

    fn node(self) -> usize {
        self.0 / 2
    }

    fn is_leaving(self) -> bool {
        self.0 % 2 == 1
    }
}

/// How a state was reached.
#[derive(Clone, Copy, Debug)]
enum Step {
    Start,
    /// Over an unused link.
    Forwards(State, LinkIndex),
    /// Over a link that a path uses, from its end to its begin.
    Backwards(State, LinkIndex),
    /// From one half of a node to the other.
    Within(State),
}

/// The paths so far, as a set of links.
struct Flow<'a> {
    graph: &'a Graph,
    metric: Metric,
    ends: [NodeIndex; 2],
    disjointness: Disjointness,
    used: BTreeSet<LinkIndex>,
    /// Used links into each node.
    used_into: BTreeMap<usize, Vec<LinkIndex>>,
    /// Distance of each state in the searches so far.
    potential: Vec<Length>,
    /// Reduced lengths of the current search.
    lengths: Vec<Length>,
    over: Vec<Step>,
}

impl Flow<'_> {
    /// Adds a path; false if there is no further one.
    fn augment(&mut self) -> bool {
        let end = State::arriving(self.ends[1]);
        if !self.search(end) {
            return false;
        }
        let longest = self.lengths[end.0];
        for (potential, length) in self.potential.iter_mut().zip(&self.lengths) {
            *potential += (*length).min(longest);
        }
        let mut at = end;
        loop {
            match self.over[at.0] {
                Step::Start => break,
                Step::Within(before) => at = before,
                Step::Forwards(before, link) => {
                    self.used.insert(link);
                    let node = self.graph.link(link).to.index();
                    self.used_into.entry(node).or_default().push(link);
                    at = before;
                }
                Step::Backwards(before, link) => {
                    self.used.remove(&link);
                    let node = self.graph.link(link).to.index();
                    let into = self.used_into.get_mut(&node).expect("a used link");
                    into.retain(|other| *other != link);
                    at = before;
                }
            }
        }
        true
    }

    /// Dijkstra's algorithm in the changed graph, with reduced lengths, until the end is reached.
    fn search(&mut self, end: State) -> bool {
        self.lengths.fill(UNREACHABLE);
        let start = self.leaving_of(self.ends[0]);
        self.lengths[start.0] = 0;
        self.over[start.0] = Step::Start;
        let mut heap = BinaryHeap::from([Reverse((0, start))]);
        let mut steps = Vec::new();
        while let Some(Reverse((length, state))) = heap.pop() {
            if state == end {
                return true;
            }
            if length > self.lengths[state.0] {
                continue;
            }
            self.steps(state, &mut steps);
            for Move { step, to, extent } in steps.drain(..) {
                // Never below 0: the potential of the next state is at most that of this one and the length between.
                let reduced = Length::try_from(
                    extent + self.potential[state.0] as i128 - self.potential[to.0] as i128,
                );
                let next = length + reduced.expect("reduced lengths are positive");
                if next < self.lengths[to.0] {
                    self.lengths[to.0] = next;
                    self.over[to.0] = step;
                    heap.push(Reverse((next, to)));
                }
            }
        }
        false
    }

    /// The state at which the links of a node leave.
    fn leaving_of(&self, node: NodeIndex) -> State {
        match self.disjointness {
            Disjointness::Links => State::arriving(node),
            Disjointness::Nodes => State::leaving(node),
        }
    }

    /// All steps from a state.
    fn steps(&self, state: State, steps: &mut Vec<Move>) {
        let node = state.node();
        let used_into = self.used_into.get(&node).map_or(&[][..], Vec::as_slice);
        let splits = self.disjointness == Disjointness::Nodes;
        let is_first = node == self.ends[0].index();
        if !splits || !state.is_leaving() {
            for link in used_into {
                let to = self.leaving_of(self.graph.link(*link).from);
                steps.push(Move {
                    step: Step::Backwards(state, *link),
                    to,
                    extent: -(self.metric.of(self.graph, *link) as i128),
                });
            }
        }
        if splits && !is_first {
            // A node on a path is crossed only backwards.
            let is_used = !used_into.is_empty();
            let to = match (state.is_leaving(), is_used) {
                (false, false) => Some(State(state.0 + 1)),
                (true, true) => Some(State(state.0 - 1)),
                _ => None,
            };
            steps.extend(to.map(|to| Move {
                step: Step::Within(state),
                to,
                extent: 0,
            }));
        }
        // Hosts do not forward.
        let forwards = is_first || self.graph.forwards[node];
        if !forwards || (splits && !state.is_leaving()) {
            return;
        }
        for (link, next) in &self.graph.outgoing[node] {
            if !self.used.contains(link) && *next != self.ends[0] {
                steps.push(Move {
                    step: Step::Forwards(state, *link),
                    to: State::arriving(*next),
                    extent: self.metric.of(self.graph, *link) as i128,
                });
            }
        }
    }

    /// The used links as paths. Paths of the least total length have no loop: without it they would be shorter.
    fn paths(&self) -> Vec<Vec<LinkIndex>> {
        let mut leaving: BTreeMap<NodeIndex, Vec<LinkIndex>> = BTreeMap::new();
        for link in self.used.iter().rev() {
            let from = self.graph.link(*link).from;
            leaving.entry(from).or_default().push(*link);
        }
        let count = leaving.get(&self.ends[0]).map_or(0, Vec::len);
        let mut paths: Vec<(Length, Vec<LinkIndex>)> = (0..count)
            .map(|_| {
                let (mut node, mut path) = (self.ends[0], Vec::new());
                while node != self.ends[1] {
                    let link = leaving.get_mut(&node).and_then(Vec::pop);
                    let link = link.expect("as many links leave a node as arrive");
                    path.push(link);
                    node = self.graph.link(link).to;
                }
                let lengths = path.iter().map(|link| self.metric.of(self.graph, *link));
                (lengths.sum(), path)
            })
            .collect();
        paths.sort();
        paths.into_iter().map(|(_, path)| path).collect()
    }
}

/// A step with its destination and its length, which is negative backwards.
struct Move {
    step: Step,
    to: State,
    extent: i128,
}
