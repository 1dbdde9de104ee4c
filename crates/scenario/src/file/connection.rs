//! `[[connection]]`: all keys, as far as they do not depend on the network.

use netsim::Span;

use super::limits::MAX_FLOWS;
use super::table::{Field, Table};
use super::{application, endpoint, paths, subflows};
use crate::connection::{Between, ConnectionSpec, Constants, Protocol};
use crate::error::Error;

const KEYS: &[&str] = &[
    "name",
    "count",
    "protocol",
    "algorithm",
    "settings",
    "subflows",
    "path",
    "paths",
    "from",
    "to",
    "pattern",
    "routing",
    "path_choice",
    "bytes",
    "requests",
    "rate",
    "on",
    "off",
    "start",
    "arrivals",
    "profile",
    "receive_window",
    "send_buffer",
    "initial_window",
    "rto_initial",
    "rto_min",
    "delayed_ack",
    "quick_acks",
    "push_acks",
    "bursts",
    "path_manager",
    "join_delay",
    "ecn",
    "mss",
    "packet",
    "initial_ssthresh",
    "assistance",
    "groups",
    "backup",
    "regroup",
];

/// A connection before the check on the network.
pub(super) struct Unchecked<'a> {
    pub(super) table: Table<'a>,
    pub(super) spec: ConnectionSpec,
}

impl Unchecked<'_> {
    /// Number of paths in use, where the topology does not give one.
    pub(super) fn paths(&self) -> u32 {
        match &self.spec.between {
            Between::Set { paths, .. } => {
                let highest = paths.iter().map(|path| path + 1).max();
                highest.unwrap_or(self.spec.subflows)
            }
            _ => 1,
        }
    }
}

#[derive(Clone, Copy)]
enum Choice {
    Supported(Protocol),
    MmTp,
}

const PROTOCOLS: &[(&str, Choice)] = &[
    (Protocol::Tcp.name(), Choice::Supported(Protocol::Tcp)),
    (Protocol::Mptcp.name(), Choice::Supported(Protocol::Mptcp)),
    (Protocol::Udp.name(), Choice::Supported(Protocol::Udp)),
    ("mmtp", Choice::MmTp),
];

/// Reads a connection.
pub(super) fn read<'a>(field: &Field<'a>, stop: Span) -> Result<Unchecked<'a>, Error> {
    let table = field.table(KEYS)?;
    let mut spec = ConnectionSpec::default();
    if let Some(protocol) = table.get("protocol") {
        spec.protocol = match protocol.choice(PROTOCOLS)? {
            Choice::Supported(protocol) => protocol,
            Choice::MmTp => {
                return Err(
                    protocol.error("`mmtp` is not supported yet: there are tcp, mptcp, udp")
                );
            }
        };
    }
    check_protocol(&table, spec.protocol)?;
    endpoint::read(&table, &mut spec)?;
    spec.name = match table.get("name") {
        Some(name) => self::name(&name)?,
        None => format!("{} {}", spec.protocol.name(), spec.algorithm)
            .trim()
            .into(),
    };
    if let Some(count) = table.get("count") {
        spec.count = count.integer_u32(1..=MAX_FLOWS as u32)?;
    }
    paths::read(&table, &mut spec)?;
    spec.application = application::read(&table, spec.protocol)?;
    spec.start = application::start(&table, stop)?;
    subflows::groups(&table, &mut spec, stop)?;
    subflows::backup(&table, &mut spec)?;
    spec.arrivals = table
        .get("arrivals")
        .map(|field| application::arrivals(&field, &spec.application))
        .transpose()?;
    Ok(Unchecked { table, spec })
}

/// A name is not a number: `--set` takes a name or a number.
fn name(field: &Field<'_>) -> Result<String, Error> {
    let name = field.name()?;
    if name.bytes().all(|byte| byte.is_ascii_digit()) || name == "*" {
        return Err(field.error("a name must not be a number or `*`"));
    }
    Ok(name.into())
}

/// Refuses keys that do not apply to the protocol.
fn check_protocol(table: &Table<'_>, protocol: Protocol) -> Result<(), Error> {
    let mptcp = [
        "subflows",
        "path_manager",
        "join_delay",
        "assistance",
        "groups",
        "backup",
        "regroup",
    ];
    match protocol {
        Protocol::Mptcp => {}
        Protocol::Tcp => table.refuse(&mptcp, "only for `protocol = \"mptcp\"`")?,
        Protocol::Udp => {
            table.refuse(&mptcp, "only for `protocol = \"mptcp\"`")?;
            let tcp = [
                "algorithm",
                "settings",
                "profile",
                "receive_window",
                "send_buffer",
                "mss",
                "initial_ssthresh",
                "bytes",
                "requests",
            ];
            table.refuse(&tcp, "not for `protocol = \"udp\"`")?;
            table.refuse(&Constants::KEYS, "not for `protocol = \"udp\"`")?;
            table.require("rate", "rate = \"500kbit\"")?;
            return Ok(());
        }
    }
    table.refuse(&["packet"], "only for `protocol = \"udp\"`; TCP has `mss`")
}
