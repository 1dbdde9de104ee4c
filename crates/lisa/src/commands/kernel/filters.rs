//! The options that choose connections, of `status` and `top`.

use clap::Args;
use kernel::filter::{Filter, NamespaceName, Peer, ProcessName};

use crate::algorithm_name;
use crate::values::{self, Form};

/// Choice of connections. An option that is given several times has alternatives.
#[derive(Args)]
#[command(next_help_heading = "Filters")]
pub struct Filters {
    /// Only connections with this algorithm.
    #[arg(long, value_name = "NAME", value_parser = algorithm_name::loadable())]
    algorithm: Vec<String>,
    /// Only connections to this peer: ADDRESS, ADDRESS/PREFIX, or either with :PORT, with brackets around an IPv6 address before a port.
    #[arg(long, value_name = "ADDRESS", value_parser = peer())]
    peer: Vec<Peer>,
    /// Only connections with this port at either end.
    #[arg(long, value_name = "N", value_parser = values::number::<u16>(0..=65_535))]
    port: Vec<u16>,
    /// Only connections of this process: its id or its command.
    #[arg(long, value_name = "PID|NAME", value_parser = process())]
    process: Vec<ProcessName>,
    /// Only this network namespace: its name, its inode number, or `.` for the one of this command.
    #[arg(long, value_name = "NAME|INODE", value_parser = netns())]
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

fn peer() -> Form<Peer> {
    let form =
        "ADDRESS, ADDRESS/PREFIX, or either with :PORT, like 192.0.2.0/24 or [2001:db8::1]:443";
    Form::new(form, |text| text.parse().map_err(|_: String| String::new()))
}

fn process() -> Form<ProcessName> {
    let form = "the id or the command of a process, like 4711 or nginx";
    Form::new(form, |text| text.parse().map_err(|_: String| String::new()))
}

fn netns() -> Form<NamespaceName> {
    let form =
        "the name or the inode number of a network namespace, or `.` for that of this command";
    Form::new(form, |text| match text.is_empty() {
        true => Err(String::new()),
        false => text.parse(),
    })
}

/// The line for a filter that nothing matches.
pub fn nothing(filter: &Filter) -> String {
    format!("nothing matches {filter}")
}
