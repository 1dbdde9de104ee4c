//! Counters of a loaded algorithm.

use crate::contract::{self, LISA_NAMESPACES, lisa_namespace, lisa_totals};
use crate::map::{self, Entry};
use crate::registry::{self, Registered};
use crate::requests::Requests;
use crate::{Error, Result};
use libbpf_rs::{MapCore, MapFlags};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::{BTreeMap, HashSet};
use std::ops::AddAssign;

macro_rules! totals {
    ($($(#[$about:meta])* $name:ident)*) => {
        /// Counters since the algorithm was loaded, or since the load that it replaced.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
        pub struct Totals {
            $($(#[$about])* pub $name: u64,)*
        }

        impl From<lisa_totals> for Totals {
            fn from(raw: lisa_totals) -> Self {
                Self { $($name: raw.$name,)* }
            }
        }

        impl AddAssign for Totals {
            fn add_assign(&mut self, other: Self) {
                $(self.$name = self.$name.wrapping_add(other.$name);)*
            }
        }
    };
}

totals! {
    /// MPTCP connections that were coupled.
    connections_opened
    /// These connections after their last subflow closed.
    connections_closed
    /// Closed connections whose entry had no socket any more: [`crate::left_over`].
    connections_swept
    /// Subflows of MPTCP connections.
    subflows_opened
    /// These subflows after they closed.
    subflows_closed
    /// Subflows that run uncoupled because there were as many connections as there may be.
    alone_full
    /// Subflows that run uncoupled because their user had as many connections as a user may have.
    alone_user
    /// Subflows that run uncoupled because their connection had no free slot.
    alone_slots
    /// Uncoupled subflows that joined a connection, and therefore grow slowly.
    alone_joins
    /// Subflows that joined a connection whose earlier subflows run another algorithm, or another load of this one: the two
    /// are not coupled.
    apart_joins
    /// Sockets without MPTCP that run this algorithm alone.
    plain_opened
    /// These sockets after they closed.
    plain_closed
    /// Sockets without MPTCP that got their network namespace's own algorithm.
    plain_returned
    /// Sockets without MPTCP whose change of algorithm the kernel refused.
    plain_refused
    /// Credits that joining subflows took.
    credits_taken
    /// Credits that lenders settled.
    credits_settled
    /// Credits that became void.
    credits_void
    /// Slow starts that ended without a loss.
    slow_start_exits
    /// Window reductions.
    losses
    /// Events that found no room in a listener's ring buffer.
    events_lost
    /// Map entries that the kernel refused to delete.
    deletions_failed
}

impl Totals {
    /// Subflows that run uncoupled for lack of room.
    pub fn alone(&self) -> u64 {
        self.alone_full + self.alone_user + self.alone_slots
    }

    /// Open connections that were coupled when they opened.
    pub fn connections_open(&self) -> u64 {
        self.connections_opened
            .saturating_sub(self.connections_closed)
    }

    /// Open subflows.
    pub fn subflows_open(&self) -> u64 {
        self.subflows_opened.saturating_sub(self.subflows_closed)
    }
}

/// Counters of a network namespace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NamespaceTotals {
    /// Its cookie.
    pub cookie: u64,
    /// Its inode number.
    pub netns: u32,
    /// Its counters.
    pub totals: Totals,
}

/// Counters of all network namespaces together.
pub fn totals(registered: &Registered) -> Result<Totals> {
    let mut sum = other(registered)?;
    for namespace in by_namespace(registered)? {
        sum += namespace.totals;
    }
    Ok(sum)
}

/// Counters that belong to no namespace of [`by_namespace`].
pub fn other(registered: &Registered) -> Result<Totals> {
    let value = registered
        .totals
        .lookup(&0u32.to_ne_bytes(), MapFlags::ANY)
        .map_err(Error::bpf(format!("`{}`: counters", registered.name())))?;
    Ok(contract::read::<lisa_totals>(&value.unwrap_or_default()).into())
}

/// Counters of the network namespaces in which the algorithm was used, by inode number. At most 4096 namespaces have counters of their
/// own.
pub fn by_namespace(registered: &Registered) -> Result<Vec<NamespaceTotals>> {
    let mut found = BTreeMap::new();
    for Entry { key, value } in map::entries(&registered.namespaces, registered.name())? {
        let (cookie, value) = (
            contract::read::<u64>(&key),
            contract::read::<lisa_namespace>(&value),
        );
        let totals = value.totals.into();
        let netns = value.netns;
        let namespace = NamespaceTotals {
            cookie,
            netns,
            totals,
        };
        found.insert((netns, cookie), namespace);
    }
    Ok(found.into_values().collect())
}

/// Former loads, which open sockets keep in the kernel. A former load goes on counting, and its counters would end with its last
/// socket: this keeps their maps.
#[derive(Debug, Default)]
pub struct Former(Vec<Registered>);

impl Former {
    /// Moves the counters of former loads to the present load of the same name, for the last time after their last socket has closed.
    /// To be called now and then.
    ///
    /// # Errors
    /// The kernel's. What was not moved is moved by the next call.
    pub fn gather(&mut self) -> Result<()> {
        let (leaving, present): (Vec<_>, Vec<_>) = registry::find()?
            .into_iter()
            .partition(|found| found.is_leaving());
        let ids: HashSet<u32> = leaving.iter().map(|found| found.map_id()).collect();
        for found in leaving {
            if !self.0.iter().any(|known| known.map_id() == found.map_id()) {
                self.0.push(found);
            }
        }
        for former in &self.0 {
            if let Some(present) = present.iter().find(|found| found.name() == former.name()) {
                move_all(former, present)?;
            }
        }
        self.0.retain(|former| ids.contains(&former.map_id()));
        Ok(())
    }

    /// Whether there was none at the last call of [`Former::gather`].
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Moves the counters of `from` to `to`, which takes over its name.
pub(crate) fn move_all(from: &Registered, to: &Registered) -> Result<()> {
    let requests = Requests::load(from, Some(to))?;
    requests.run(&requests.move_totals, 0u64)?;
    for Entry { key, value } in map::entries(&from.namespaces, from.name())? {
        // The counters are moved below, by atomic operations.
        let mut namespace: lisa_namespace = contract::read(&value);
        namespace.totals = lisa_totals::default();
        let value = contract::bytes(&namespace);
        let _ = to.namespaces.update(&key, value, MapFlags::NO_EXIST); // there, or no room
        requests.run(&requests.move_totals, contract::read::<u64>(&key))?;
    }
    Ok(())
}

/// Once half of the entries of namespaces are used: moves the counters of namespaces without open sockets to the others, and deletes
/// their entries.
pub(crate) fn make_room(registered: &Registered) -> Result<()> {
    let namespaces = by_namespace(registered)?;
    if namespaces.len() < LISA_NAMESPACES as usize / 2 {
        return Ok(());
    }
    let requests = Requests::load(registered, None)?;
    for NamespaceTotals { cookie, totals, .. } in namespaces {
        let open = totals.connections_open()
            + totals.subflows_open()
            + totals.plain_opened.saturating_sub(totals.plain_closed);
        if open == 0 {
            requests.run(&requests.move_totals, cookie)?;
            let _ = registered.namespaces.delete(&cookie.to_ne_bytes()); // deleted by another program
        }
    }
    Ok(())
}
