//! Groups of the subflows of a connection, as network assistance decides them. The topology manager and the simulator call this.
//!
//! The safe answer is that all subflows are coupled. Subflows are only separated if all their paths and the rates of all links on them
//! are known.

use serde::{Deserialize, Serialize};

use crate::bottlenecks::Grouping;
use crate::graph::LinkIndex;

/// The installed route of a subflow: one path, or all candidates of ECMP.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Route {
    /// The links of all candidates, one after another.
    links: Box<[LinkIndex]>,
    /// End of each candidate in `links`.
    ends: Box<[u32]>,
}

impl Route {
    /// A route of these candidates; none if there is no path.
    #[must_use]
    pub fn of(paths: &[impl AsRef<[LinkIndex]>]) -> Option<Self> {
        let mut links = Vec::new();
        let mut ends = Vec::with_capacity(paths.len());
        for path in paths {
            links.extend_from_slice(path.as_ref());
            ends.push(links.len() as u32);
        }
        (!paths.is_empty()).then(|| Self {
            links: links.into(),
            ends: ends.into(),
        })
    }

    /// The candidates.
    pub fn candidates(&self) -> impl ExactSizeIterator<Item = &[LinkIndex]> {
        let begin = |index: usize| match index {
            0 => 0,
            _ => self.ends[index - 1] as usize,
        };
        (0..self.ends.len()).map(move |index| &self.links[begin(index)..self.ends[index] as usize])
    }

    /// The links of all candidates. A link on several candidates is repeated.
    #[must_use]
    pub fn links(&self) -> &[LinkIndex] {
        &self.links
    }
}

/// Reason for which all subflows of a connection are coupled without a look at their bottlenecks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unknown {
    /// The path of a subflow.
    Path,
    /// The rate of a link on one of the paths.
    Rate,
}

/// Decides groups, with memory that is kept from one connection to the next.
#[derive(Debug, Default)]
pub struct Assistance {
    grouping: Grouping,
}

impl Assistance {
    /// The group of each subflow, from 0 in the order of the subflows. A route of none is unknown. `rate` is the available rate of a
    /// link in bit/s: none if it is unknown, `u64::MAX` without a limit.
    ///
    /// Z of condition (2) is the number of subflows of this connection that may cross the link. Traffic of others is not counted: the
    /// available rate is what it leaves.
    ///
    /// # Errors
    /// What is unknown: all subflows are then one group.
    pub fn decide<'r, R>(
        &mut self,
        routes: R,
        rate: impl Fn(LinkIndex) -> Option<u64>,
    ) -> Result<&[u32], Unknown>
    where
        R: IntoIterator<Item = Option<&'r Route>> + Clone,
    {
        let mut subflows = 0;
        for route in routes.clone() {
            let route = route.ok_or(Unknown::Path)?;
            if route.links.iter().any(|link| rate(*link).is_none()) {
                return Err(Unknown::Rate);
            }
            subflows += 1;
        }
        let candidates = (routes.into_iter().flatten().enumerate())
            .flat_map(|(subflow, route)| route.candidates().map(move |path| (subflow, path)));
        let known = |link| rate(link).expect("all rates are known");
        Ok(self.grouping.groups(subflows, candidates, known))
    }
}
