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
//! A table from link to paths is filled once, each link's condition follows from the two narrowest links of its paths, and groups are
//! merged in a forest: O(k·h) for k paths of h links (IV-A3). The paper's example of figure 2 writes the factor 4/2 for links of two
//! subflows each, where (2) gives 3/2; this module follows (2).

use std::collections::HashMap;

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
        // Indices into `links`. The order of the table is never used.
        let mut table: HashMap<LinkIndex, usize> = HashMap::new();
        let mut links: Vec<SharedLink> = Vec::new();
        let mut narrowest = Vec::with_capacity(paths.len());
        for (index, path) in paths.iter().enumerate() {
            narrowest.push(Narrowest::of(path.as_ref(), bits));
            for link in path.as_ref() {
                let at = *table.entry(*link).or_insert_with(|| {
                    links.push(SharedLink {
                        link: *link,
                        paths: Vec::new(),
                        rate: None,
                        others: None,
                        is_bottleneck: false,
                    });
                    links.len() - 1
                });
                if links[at].paths.last() != Some(&index) {
                    links[at].paths.push(index);
                }
            }
        }
        links.retain(|link| link.paths.len() > 1);
        let mut forest = Forest::new(paths.len());
        for shared in &mut links {
            let beside = shared
                .paths
                .iter()
                .map(|path| narrowest[*path].beside(shared.link));
            let others = beside.max().expect("a shared link has paths");
            let subflows = shared.paths.len();
            shared.rate = rate(shared.link);
            shared.others = limited(others);
            shared.is_bottleneck = shared
                .rate
                .is_some_and(|rate| limits(rate.bits_per_second(), others, subflows));
            if shared.is_bottleneck {
                for pair in shared.paths.windows(2) {
                    forest.merge(pair[0], pair[1]);
                }
            }
        }
        let groups = forest.groups();
        Self { links, groups }
    }

    /// The friendliness bottlenecks.
    pub fn bottlenecks(&self) -> impl Iterator<Item = &SharedLink> {
        self.links.iter().filter(|link| link.is_bottleneck)
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
struct Forest {
    /// A path of the same set that is nearer to its root, or the path itself.
    parents: Vec<usize>,
}

impl Forest {
    fn new(paths: usize) -> Self {
        let parents = (0..paths).collect();
        Self { parents }
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
    fn groups(mut self) -> Vec<u32> {
        let mut groups: Vec<u32> = Vec::with_capacity(self.parents.len());
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
        groups
    }
}
