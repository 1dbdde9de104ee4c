//! The options that choose connections, of `status` and `top`.

use clap::Args;
use kernel::filter::{Filter, NamespaceName, Peer, ProcessName};

/// Choice of connections. An option that is given several times has alternatives.
#[derive(Args)]
#[command(next_help_heading = "Filters")]
pub struct Filters {
    /// Only connections with this algorithm.
    #[arg(long, value_name = "NAME")]
    algorithm: Vec<String>,
    /// Only connections to this peer: ADDRESS, ADDRESS/PREFIX, or either with :PORT, with brackets around an IPv6 address before a port.
    #[arg(long, value_name = "ADDRESS")]
    peer: Vec<Peer>,
    /// Only connections with this port at either end.
    #[arg(long, value_name = "N")]
    port: Vec<u16>,
    /// Only connections of this process: its id or its command.
    #[arg(long, value_name = "PID|NAME")]
    process: Vec<ProcessName>,
    /// Only this network namespace: its name, its inode number, or `.` for the one of this command.
    #[arg(long, value_name = "NAME|INODE")]
    netns: Vec<NamespaceName>,
}

impl From<Filters> for Filter {
    fn from(given: Filters) -> Self {
        Self {
            algorithms: given.algorithm,
            peers: given.peer,
            ports: given.port,
            processes: given.process,
            namespaces: given.netns,
        }
    }
}

/// The line for a filter that nothing matches.
pub fn nothing(filter: &Filter) -> String {
    format!("nothing matches {filter}")
}
