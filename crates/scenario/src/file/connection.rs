//! `[[connection]]`: what can be told without the network.

use netsim::Span;

use super::table::{Field, Table};
use super::{INSTANT, LONGEST, MOST_FLOWS, application};
use crate::{
    Between, ConnectionSpec, Constants, Error, PathChoice, PathManager, Profile, Protocol, Regroup,
    units,
};

/// The most subflows of a connection: far more than anyone opens.
const MOST_SUBFLOWS: u32 = 64;
/// The largest buffer: TCP's largest window with scaling, RFC 7323.
const MOST_BUFFER: u64 = 1 << 30;
/// The largest IPv4 packet, bytes.
const LARGEST_PACKET: u32 = 65_535;
/// Headers of a segment of 1500 bytes with an MSS of 1448: IPv4, TCP and timestamps.
const HEADERS: u32 = 52;

/// Linux's own algorithms (`net/ipv4/tcp_*.c`, Linux 6.12): what the lab can run beside lisa's.
const LINUX: &[&str] = &[
    "bbr",
    "bic",
    "cdg",
    "cubic",
    "dctcp",
    "highspeed",
    "htcp",
    "hybla",
    "illinois",
    "lp",
    "nv",
    "reno",
    "scalable",
    "vegas",
    "veno",
    "westwood",
    "yeah",
];

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
    "initial_window",
    "rto_initial",
    "rto_min",
    "delayed_ack",
    "quick_acks",
    "path_manager",
    "join_delay",
    "ecn",
    "mss",
    "packet",
    "initial_ssthresh",
    "groups",
    "backup",
    "regroup",
];

/// What a connection's table says by itself.
pub(super) struct Read<'a> {
    pub(super) table: Table<'a>,
    pub(super) spec: ConnectionSpec,
}

impl Read<'_> {
    /// How many paths it would use.
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
enum Carried {
    By(Protocol),
    MmTp,
}

const PROTOCOLS: &[(&str, Carried)] = &[
    (Protocol::Tcp.name(), Carried::By(Protocol::Tcp)),
    (Protocol::Mptcp.name(), Carried::By(Protocol::Mptcp)),
    (Protocol::Udp.name(), Carried::By(Protocol::Udp)),
    ("mmtp", Carried::MmTp),
];

pub(super) fn read<'a>(field: &Field<'a>, stop: Span) -> Result<Read<'a>, Error> {
    let table = field.table(KEYS)?;
    let mut spec = ConnectionSpec::default();
    if let Some(protocol) = table.get("protocol") {
        spec.protocol = match protocol.choice(PROTOCOLS)? {
            Carried::By(protocol) => protocol,
            Carried::MmTp => {
                return Err(protocol.error("`mmtp` comes later: there are tcp, mptcp, udp"));
            }
        };
    }
    check_protocol(&table, spec.protocol)?;
    endpoint(&table, &mut spec)?;
    spec.name = match table.get("name") {
        Some(name) => name_of(&name)?,
        None => format!("{} {}", spec.protocol.name(), spec.algorithm)
            .trim()
            .into(),
    };
    if let Some(count) = table.get("count") {
        spec.count = count.small(1..=MOST_FLOWS as u32)?;
    }
    between(&table, &mut spec)?;
    spec.application = application::read(&table, spec.protocol)?;
    spec.start = application::start(&table, stop)?;
    groups(&table, &mut spec, stop)?;
    backup(&table, &mut spec)?;
    spec.arrivals = table
        .get("arrivals")
        .map(|field| application::arrivals(&field))
        .transpose()?;
    Ok(Read { table, spec })
}

/// `--set` names a connection by its name or its number, so that a name is no number.
fn name_of(field: &Field<'_>) -> Result<String, Error> {
    let name = field.name()?;
    if name.bytes().all(|byte| byte.is_ascii_digit()) || name == "*" {
        return Err(field.error("a name is no number, and not `*`"));
    }
    Ok(name.into())
}

/// Refuses keys that the protocol has no use for.
fn check_protocol(table: &Table<'_>, protocol: Protocol) -> Result<(), Error> {
    let mptcp = [
        "subflows",
        "path_manager",
        "join_delay",
        "groups",
        "backup",
        "regroup",
    ];
    match protocol {
        Protocol::Mptcp => {}
        Protocol::Tcp => table.refuse(&mptcp, "only `protocol = \"mptcp\"` has it")?,
        Protocol::Udp => {
            table.refuse(&mptcp, "only `protocol = \"mptcp\"` has it")?;
            let tcp = [
                "algorithm",
                "settings",
                "profile",
                "receive_window",
                "mss",
                "initial_ssthresh",
                "bytes",
                "requests",
            ];
            table.refuse(&tcp, "`protocol = \"udp\"` does not have it")?;
            table.refuse(&Constants::KEYS, "`protocol = \"udp\"` does not have it")?;
            table.need("rate", "rate = \"500kbit\"")?;
            return Ok(());
        }
    }
    table.refuse(
        &["packet"],
        "only `protocol = \"udp\"` has it; TCP has `mss`",
    )
}

fn endpoint(table: &Table<'_>, spec: &mut ConnectionSpec) -> Result<(), Error> {
    const PROFILES: &[(&str, Profile)] = &[
        ("linux", Profile::Linux),
        ("linux-3.14", Profile::Linux314),
        ("ns3-newreno", Profile::Ns3NewReno),
    ];
    const MANAGERS: &[(&str, PathManager)] = &[
        ("fullmesh", PathManager::Fullmesh),
        ("ndiffports", PathManager::NDiffPorts),
    ];
    spec.algorithm = match (table.get("algorithm"), spec.protocol) {
        (Some(field), _) => algorithm(&field)?,
        (None, Protocol::Tcp) => "cubic".into(),
        (None, Protocol::Mptcp) => "lia".into(),
        (None, Protocol::Udp) => String::new(),
    };
    settings(table, spec)?;
    spec.subflows = match table.get("subflows") {
        Some(subflows) => subflows.small(1..=MOST_SUBFLOWS)?,
        None if spec.protocol == Protocol::Mptcp => 2,
        None => 1,
    };
    if let Some(profile) = table.get("profile") {
        spec.profile = profile.choice(PROFILES)?;
    }
    spec.constants = constants(table)?;
    if let Some(manager) = table.get("path_manager") {
        spec.path_manager = manager.choice(MANAGERS)?;
    }
    if let Some(delay) = table.get("join_delay") {
        spec.join_delay = delay.time(Span::ZERO..=LONGEST)?;
    }
    if let Some(ecn) = table.get("ecn") {
        spec.ecn = ecn.boolean()?;
    }
    if let Some(mss) = table.get("mss") {
        // RFC 9293 lets an MSS be as small as one likes; below 64 headers are all there is.
        spec.mss = mss.small(64..=LARGEST_PACKET - HEADERS)?;
    }
    if let Some(packet) = table.get("packet") {
        spec.packet = packet.bytes(64..=LARGEST_PACKET.into())? as u32;
    }
    let window = |key: &str| {
        table
            .get(key)
            .map(|field| field.bytes(u64::from(spec.mss)..=MOST_BUFFER))
    };
    spec.receive_window = window("receive_window").transpose()?;
    spec.initial_ssthresh = window("initial_ssthresh").transpose()?;
    Ok(())
}

/// Constants in place of the profile's.
fn constants(table: &Table<'_>) -> Result<Constants, Error> {
    /// The largest initial window, segments: 1.4 MB, more than any stack has.
    const LARGEST_INITIAL_WINDOW: u32 = 1000;
    /// The longest timeout: Linux's (TCP_RTO_MAX).
    const LONGEST_TIMEOUT: Span = Span::from_secs(120);
    let time = |key: &str, least: Span| {
        let field = table.get(key);
        field
            .map(|field| field.time(least..=LONGEST_TIMEOUT))
            .transpose()
    };
    let number = |key: &str, range: std::ops::RangeInclusive<u32>| {
        table.get(key).map(|field| field.small(range)).transpose()
    };
    Ok(Constants {
        initial_window: number("initial_window", 1..=LARGEST_INITIAL_WINDOW)?,
        rto_initial: time("rto_initial", INSTANT)?,
        rto_min: time("rto_min", INSTANT)?,
        delayed_ack: time("delayed_ack", Span::ZERO)?,
        quick_acks: number("quick_acks", 0..=u32::MAX)?,
    })
}

/// `settings`: those of the connection's algorithm.
fn settings(table: &Table<'_>, spec: &mut ConnectionSpec) -> Result<(), Error> {
    let Some(field) = table.get("settings") else {
        return Ok(());
    };
    let algorithm = mpcc::Algorithm::find(&spec.algorithm);
    let own = || algorithm.into_iter().flat_map(|a| a.settings());
    for (name, value) in field.entries()? {
        let Some(setting) = own().find(|setting| setting.name == name) else {
            let known: Vec<_> = own().map(|setting| setting.name).collect();
            if known.is_empty() {
                return Err(value.error(format!("`{}` has no settings", spec.algorithm)));
            }
            return Err(value.unknown(name, "setting", &known));
        };
        let number = value.small(setting.range)?;
        spec.settings.insert(name.into(), number);
    }
    Ok(())
}

/// A list with an item for each subflow.
fn for_each<'a>(field: &Field<'a>, subflows: u32) -> Result<Vec<Field<'a>>, Error> {
    let items = field.list()?;
    if items.len() == subflows as usize {
        return Ok(items);
    }
    let items = items.len();
    Err(field.error(format!(
        "{items} items, but there are {subflows} subflows: one for each"
    )))
}

/// `backup`.
fn backup(table: &Table<'_>, spec: &mut ConnectionSpec) -> Result<(), Error> {
    let Some(field) = table.get("backup") else {
        return Ok(());
    };
    if spec.profile != Profile::Linux {
        return Err(field.error("only `profile = \"linux\"` has it"));
    }
    let items = for_each(&field, spec.subflows)?;
    spec.backup = items.iter().map(Field::boolean).collect::<Result<_, _>>()?;
    if spec.backup[0] {
        return Err(items[0].error("the first subflow is no backup: MP_CAPABLE has no flag for it"));
    }
    Ok(())
}

/// `groups`, and `regroup`: one table or several in order of time.
fn groups(table: &Table<'_>, spec: &mut ConnectionSpec, stop: Span) -> Result<(), Error> {
    let subflows = spec.subflows;
    let read = |field: &Field<'_>| {
        let items = for_each(field, subflows)?;
        let group = |item: &Field<'_>| Ok(item.small(0..=mpcc::GROUP_MAX.into())? as u8);
        items.iter().map(group).collect::<Result<Vec<u8>, Error>>()
    };
    if let Some(field) = table.get("groups") {
        spec.groups = read(&field)?;
    }
    let Some(field) = table.get("regroup") else {
        return Ok(());
    };
    let items = match field.is_list() {
        true => field.list()?,
        false => vec![field],
    };
    for item in items {
        let table = item.table(&["at", "groups"])?;
        let at = table.need("at", "at = \"5s\"")?;
        let regroup = Regroup {
            at: at.time(Span::ZERO..=LONGEST)?,
            groups: read(&table.need("groups", "groups = [0, 1]")?)?,
        };
        if regroup.at >= stop {
            return Err(at.error("not before `stop`"));
        }
        match spec.regroup.last() {
            Some(before) if regroup.at <= before.at => {
                let before = units::show_time(before.at);
                return Err(at.error(format!("later than the one before is wanted, {before}")));
            }
            _ => spec.regroup.push(regroup),
        }
    }
    Ok(())
}

/// A name in lisa's table, or one of Linux's.
fn algorithm(field: &Field<'_>) -> Result<String, Error> {
    let name = field.text()?;
    let mut known: Vec<&str> = mpcc::Algorithm::all()
        .map(|algorithm| algorithm.name())
        .collect();
    known.extend(
        LINUX
            .iter()
            .filter(|name| mpcc::Algorithm::find(name).is_none()),
    );
    if known.contains(&name) {
        return Ok(name.into());
    }
    Err(field.unknown(name, "algorithm", &known))
}

fn between(table: &Table<'_>, spec: &mut ConnectionSpec) -> Result<(), Error> {
    const PATTERNS: &[(&str, bool)] = &[("permutation", true), ("random", false)];
    const CHOICES: &[(&str, PathChoice)] = &[
        ("in-order", PathChoice::InOrder),
        ("random", PathChoice::Random),
    ];
    let hosts = ["from", "to"];
    let paths = ["path", "paths"];
    if let Some(pattern) = table.get("pattern") {
        table.refuse(&hosts, "`pattern` chooses the hosts: give one of them")?;
        table.refuse(
            &paths,
            "`pattern` chooses hosts and not paths: give one of them",
        )?;
        let permutation = pattern.choice(PATTERNS)?;
        spec.between = if permutation {
            Between::Permutation
        } else {
            Between::Random
        };
    } else if hosts.iter().any(|key| table.get(key).is_some()) {
        table.refuse(
            &paths,
            "`from` and `to` take all shortest paths: give one of them",
        )?;
        spec.between = Between::Hosts {
            from: table.need("from", "from = \"h1\"")?.text()?.into(),
            to: table.need("to", "to = \"h2\"")?.text()?.into(),
        };
    } else {
        spec.between = named_paths(table)?;
    }
    spec.path_choice = match (table.get("path_choice"), &spec.between) {
        (Some(choice), _) => choice.choice(CHOICES)?,
        (None, Between::Set { .. }) => PathChoice::InOrder,
        (None, _) => PathChoice::Random,
    };
    Ok(())
}

/// `path = 2`, `paths = [2, 1]`, `paths = "type1"`, or the last with `path`.
fn named_paths(table: &Table<'_>) -> Result<Between, Error> {
    /// As many as a topology may have.
    const MOST_PATHS: u32 = 1024;
    // A file counts from 1, as the links' names do.
    let number = |field: &Field<'_>| Ok(field.small(1..=MOST_PATHS)? - 1);
    let mut name = None;
    let mut paths = Vec::new();
    if let Some(field) = table.get("paths") {
        if field.is_text() {
            name = Some(field.text()?.into());
        } else {
            table.refuse(&["path"], "`paths` lists them already: give one of them")?;
            paths = field
                .list()?
                .iter()
                .map(number)
                .collect::<Result<_, Error>>()?;
            if paths.is_empty() || paths.len() > MOST_SUBFLOWS as usize {
                return Err(
                    field.error(format!("1 to {MOST_SUBFLOWS} numbers of paths are wanted"))
                );
            }
        }
    }
    if let Some(path) = table.get("path") {
        paths = vec![number(&path)?];
    }
    Ok(Between::Set { name, paths })
}
