//! Lines of connections and subflows, for `status` and `top`: within the width of the terminal.

mod cells;
mod layout;

pub use cells::{credit, group};
pub use layout::{Layout, Namespaces};

use kernel::status::{Connection, Subflow};

/// Whether a subflow of these connections is outside of group 0, in which all start, or is requested to move.
pub fn grouped<'c>(connections: impl IntoIterator<Item = &'c Connection>) -> bool {
    let mut subflows = connections.into_iter().flat_map(|c| &c.subflows);
    subflows.any(is_grouped)
}

/// Whether a subflow has a group to be shown.
pub fn is_grouped(subflow: &Subflow) -> bool {
    subflow.group != 0 || subflow.group_asked.is_some() || subflow.uncoupled
}
