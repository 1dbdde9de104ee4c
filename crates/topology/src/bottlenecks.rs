//! Friendliness bottlenecks, and the groups of paths that share them (Thomas, Xylomenos and Polyzos, "Multipath Congestion Control with
//! Network Assistance", section IV-A).
//!
//! A link that several paths share need not limit them. It is no friendliness bottleneck iff
//!
//! ```text
//! b_s > max over the paths on s of (least rate of the path's other links) · (Z_s + 1) / 2          (2)
//! ```
//!
//! with its available rate b_s and its number of subflows Z_s: then the best single-path connection gets more on this link, beside Z_s
//! subflows, than on the narrowest other link of its path beside one. Paths that share a friendliness bottleneck have one group,
//! also over a third path: A and B, and B and C, are one group of three (figure 3c).
//!
//! The links of all paths are listed and sorted once, each link's condition follows from the two narrowest links of its paths, and groups are
//! merged in a forest: O(k·h·log(k·h)) for k paths of h links. The paper's hash table has O(k·h) (IV-A3), but for the few dozen links of a
//! connection sorting is faster. The paper's example of figure 2 writes the factor 4/2 for links of two
//! subflows each, where (2) gives 3/2; this module follows (2).

use netsim::Rate;

use crate::graph::LinkIndex;

/// What paths share.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sharing {
    /// Links on two paths or more, in the order in which the paths cross them.
    pub links: Vec<SharedLink>,
    /// Group of each path, from 0 in the order of the paths.
    pub groups: Vec<u32>,
}

/// A link on two paths or more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharedLink {
    /// The link.
    pub link: LinkIndex,
    /// Indices of the paths that cross it, in order.
    pub paths: Vec<usize>,
    /// Available rate; none: no limit.
    pub rate: Option<Rate>,
    /// Largest rate, over its paths, of the narrowest other link; none: a path has no other link with a limit.
    pub others: Option<Rate>,
    /// Whether the link is a friendliness bottleneck, by (2).
    pub is_bottleneck: bool,
}

/// The two lowest rates of a path, bit/s; `u64::MAX`: no limit.
#[derive(Clone, Copy)]
struct Narrowest {
    link: Option<LinkIndex>,
    rate: u64,
    second: u64,
}

impl Narrowest {
    fn of(path: &[LinkIndex], rate: impl Fn(LinkIndex) -> u64) -> Self {
        let mut narrowest = Self {
            link: None,
            rate: u64::MAX,
            second: u64::MAX,
        };
        for link in path {
            let rate = rate(*link);
            if rate < narrowest.rate {
                narrowest.second = narrowest.rate;
                (narrowest.link, narrowest.rate) = (Some(*link), rate);
            } else if narrowest.link != Some(*link) {
                narrowest.second = narrowest.second.min(rate);
            }
        }
        narrowest
    }

    /// The lowest rate of the other links.
    fn beside(self, link: LinkIndex) -> u64 {
        match self.link == Some(link) {
            true => self.second,
            false => self.rate,
        }
    }
}

impl Sharing {
    /// The shared links of paths, each a subflow, and the groups. `rate` is the available rate of a link; none: no limit, and never a
    /// bottleneck.
    #[must_use]
    pub fn of(paths: &[impl AsRef<[LinkIndex]>], rate: impl Fn(LinkIndex) -> Option<Rate>) -> Self {
        let bits = |link| rate(link).map_or(u64::MAX, Rate::bits_per_second);
        let mut links: Vec<(u32, SharedLink)> = Vec::new();
        let mut grouping = Grouping::default();
        let candidates = paths.iter().map(AsRef::as_ref).enumerate();
        grouping.find(paths.len(), candidates, bits, |shared| {
            let link = SharedLink {
                link: shared.link,
                paths: shared.subflows().collect(),
                rate: rate(shared.link),
                others: limited(shared.others),
                is_bottleneck: shared.is_bottleneck,
            };
            links.push((shared.first(), link));
        });
        links.sort_by_key(|(first, _)| *first);
        Self {
            links: links.into_iter().map(|(_, link)| link).collect(),
            groups: grouping.groups.clone(),
        }
    }

    /// The friendliness bottlenecks.
    pub fn bottlenecks(&self) -> impl Iterator<Item = &SharedLink> {
        self.links.iter().filter(|link| link.is_bottleneck)
    }
}

/// Groups of subflows of which each has one path, or several candidates: with ECMP a subflow is on one of the equal-cost paths, and which is
/// not known.
///
/// A subflow counts on every link of its candidates, with the candidate whose other links are widest. Both make the right side of
/// (2) larger: subflows that share a bottleneck with one choice of the candidates are in one group. The memory is kept from one
/// connection to the next.
#[derive(Debug, Default)]
pub struct Grouping {
    crossings: Vec<Crossing>,
    forest: Forest,
    groups: Vec<u32>,
}

/// A link of a candidate path of a subflow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Crossing {
    link: LinkIndex,
    subflow: u32,
    /// Lowest rate of the other links of this path, bit/s; `u64::MAX`: no limit.
    beside: u64,
    /// Position among all crossings.
    position: u32,
}

/// A shared link of [`Grouping::find`].
struct Shared<'c> {
    link: LinkIndex,
    /// Crossings of this link, by subflow.
    crossings: &'c [Crossing],
    others: u64,
    is_bottleneck: bool,
}

impl Shared<'_> {
    /// The subflows, each once.
    fn subflows(&self) -> impl Iterator<Item = usize> {
        let runs = self
            .crossings
            .chunk_by(|one, next| one.subflow == next.subflow);
        runs.map(|run| run[0].subflow as usize)
    }

    /// Position of the first crossing.
    fn first(&self) -> u32 {
        let positions = self.crossings.iter().map(|crossing| crossing.position);
        positions.min().expect("a shared link has crossings")
    }
}

impl Grouping {
    /// The group of each subflow, from 0 in the order of the subflows. `candidates` are pairs of the index of a subflow and a path; `rate`
    /// is the available rate of a link in bit/s, `u64::MAX` without a limit.
    pub fn groups<'p>(
        &mut self,
        subflows: usize,
        candidates: impl IntoIterator<Item = (usize, &'p [LinkIndex])>,
        rate: impl Fn(LinkIndex) -> u64,
    ) -> &[u32] {
        self.find(subflows, candidates, rate, |_| {});
        &self.groups
    }

    /// Determines the groups, with a call for each shared link.
    fn find<'p>(
        &mut self,
        subflows: usize,
        candidates: impl IntoIterator<Item = (usize, &'p [LinkIndex])>,
        rate: impl Fn(LinkIndex) -> u64,
        mut on_shared: impl FnMut(&Shared<'_>),
    ) {
        self.crossings.clear();
        for (subflow, path) in candidates {
            let narrowest = Narrowest::of(path, &rate);
            for link in path {
                self.crossings.push(Crossing {
                    link: *link,
                    subflow: subflow as u32,
                    beside: narrowest.beside(*link),
                    position: self.crossings.len() as u32,
                });
            }
        }
        self.crossings.sort_unstable();
        self.forest.reset(subflows);
        let on_one_link = |one: &Crossing, next: &Crossing| one.link == next.link;
        for crossings in self.crossings.chunk_by(on_one_link) {
            let changes = crossings
                .windows(2)
                .filter(|pair| pair[0].subflow != pair[1].subflow);
            let subflows = 1 + changes.count();
            if subflows < 2 {
                continue;
            }
            let link = crossings[0].link;
            let beside = crossings.iter().map(|crossing| crossing.beside);
            let others = beside.max().expect("a shared link has crossings");
            let rate = rate(link);
            let shared = Shared {
                link,
                crossings,
                others,
                is_bottleneck: rate != u64::MAX && limits(rate, others, subflows),
            };
            if shared.is_bottleneck {
                let first = crossings[0].subflow as usize;
                for other in shared.subflows().skip(1) {
                    self.forest.merge(first, other);
                }
            }
            on_shared(&shared);
        }
        self.forest.groups(&mut self.groups);
    }
}

/// A rate; none for `u64::MAX`, which is no limit.
fn limited(bits: u64) -> Option<Rate> {
    (bits != u64::MAX).then(|| Rate::from_bits_per_second(bits))
}

/// Whether (2) is false for a link of this rate with this number of subflows.
fn limits(rate: u64, others: u64, subflows: usize) -> bool {
    others == u64::MAX || 2 * u128::from(rate) <= u128::from(others) * (subflows as u128 + 1)
}

/// Disjoint sets of paths.
#[derive(Debug, Default)]
struct Forest {
    /// A path of the same set that is nearer to its root, or the path itself.
    parents: Vec<usize>,
}

impl Forest {
    /// Makes each path a set of its own.
    fn reset(&mut self, paths: usize) {
        self.parents.clear();
        self.parents.extend(0..paths);
    }

    fn root(&mut self, mut path: usize) -> usize {
        while self.parents[path] != path {
            self.parents[path] = self.parents[self.parents[path]];
            path = self.parents[path];
        }
        path
    }

    /// The root of merged sets is their first path.
    fn merge(&mut self, one: usize, other: usize) {
        let (one, other) = (self.root(one), self.root(other));
        self.parents[one.max(other)] = one.min(other);
    }

    /// A number for each set, in the order of their first paths.
    fn groups(&mut self, groups: &mut Vec<u32>) {
        groups.clear();
        let mut next = 0;
        for path in 0..self.parents.len() {
            let root = self.root(path);
            if root == path {
                groups.push(next);
                next += 1;
            } else {
                groups.push(groups[root]);
            }
        }
    }
}
