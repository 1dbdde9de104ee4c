//! Endpoints of a connection: algorithm, profile, constants, path manager, sizes.

use netsim::Span;
use transport::{PathManager, Profile, smallest_receive_buffer};

use super::limits::{INSTANT, LONGEST, MAX_SUBFLOWS};
use super::table::{Field, Table};
use crate::connection::{ConnectionSpec, Constants, InitialSsthresh, Protocol};
use crate::error::Error;
use crate::units;

/// Largest buffer: TCP's largest window with scaling (RFC 7323).
const MAX_BUFFER: u64 = 1 << 30;
/// Largest IPv4 packet, bytes.
const MAX_PACKET: u32 = 65_535;
/// Headers of a segment of 1500 bytes with an MSS of 1448: IPv4, TCP and timestamps.
const HEADERS: u32 = 52;

/// Algorithms of Linux (`net/ipv4/tcp_*.c`, Linux 6.12), which the lab can run besides lisa's.
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

/// Path managers by their names in mptcp.org's kernel.
const PATH_MANAGERS: &[(&str, PathManager)] = &[
    ("fullmesh", PathManager::Announced),
    ("ndiffports", PathManager::Client),
];

/// Reads all keys of the endpoints.
pub(super) fn read(table: &Table<'_>, spec: &mut ConnectionSpec) -> Result<(), Error> {
    spec.algorithm = match (table.get("algorithm"), spec.protocol) {
        (Some(field), _) => algorithm(&field)?,
        (None, Protocol::Tcp) => "cubic".into(),
        (None, Protocol::Mptcp) => "lia".into(),
        (None, Protocol::Udp) => String::new(),
    };
    settings(table, spec)?;
    spec.subflows = match table.get("subflows") {
        Some(subflows) => subflows.integer_u32(1..=MAX_SUBFLOWS)?,
        None if spec.protocol == Protocol::Mptcp => 2,
        None => 1,
    };
    if let Some(profile) = table.get("profile") {
        spec.profile = profile.choice(&Profile::all().map(|known| (known.name, known)))?;
    }
    spec.constants = constants(table)?;
    if let Some(manager) = table.get("path_manager") {
        spec.path_manager = manager.choice(PATH_MANAGERS)?;
    }
    if let Some(delay) = table.get("join_delay") {
        spec.join_delay = delay.time(Span::ZERO..=LONGEST)?;
    }
    if let Some(ecn) = table.get("ecn") {
        spec.ecn = ecn.boolean()?;
    }
    if let Some(mss) = table.get("mss") {
        // RFC 9293 has no lower limit. Below 64 bytes a packet is little more than headers.
        spec.mss = mss.integer_u32(64..=MAX_PACKET - HEADERS)?;
    }
    if let Some(packet) = table.get("packet") {
        spec.packet = packet.bytes(64..=MAX_PACKET.into())? as u32;
    }
    let window = |key: &str| {
        table
            .get(key)
            .map(|field| field.bytes(u64::from(spec.mss)..=MAX_BUFFER))
    };
    spec.receive_window = (table.get("receive_window"))
        .map(|field| receive_window(&field, spec))
        .transpose()?;
    spec.send_buffer = window("send_buffer").transpose()?;
    spec.initial_ssthresh = match table.get("initial_ssthresh") {
        Some(field) if field.text().is_ok_and(|text| text == "bdp") => Some(InitialSsthresh::Bdp),
        _ => {
            let bytes = window("initial_ssthresh").transpose();
            let or_bdp = |error: Error| Error {
                problem: format!("{}, or `\"bdp\"`", error.problem),
                ..error
            };
            bytes.map_err(or_bdp)?.map(InitialSsthresh::Bytes)
        }
    };
    Ok(())
}

/// A receive buffer with a window of some segments.
fn receive_window(field: &Field<'_>, spec: &ConnectionSpec) -> Result<u64, Error> {
    let bytes = field.bytes(1..=MAX_BUFFER)?;
    let least = smallest_receive_buffer(&spec.profile, spec.mss);
    match bytes < least {
        true => Err(field.error(format!(
            "{} is too small: below {} the window has no room for three segments, and Linux halves the MSS or closes the window, \
             which is not simulated",
            units::show_bytes(bytes),
            units::show_bytes(least)
        ))),
        false => Ok(bytes),
    }
}

/// Constants and rules that replace the profile's.
fn constants(table: &Table<'_>) -> Result<Constants, Error> {
    /// Largest initial window, segments: 1.4 MB, more than any stack has.
    const MAX_INITIAL_WINDOW: u32 = 1000;
    /// Longest timeout (Linux: TCP_RTO_MAX).
    const MAX_TIMEOUT: Span = Span::from_secs(120);
    let time = |key: &str, minimum: Span| {
        let field = table.get(key);
        field
            .map(|field| field.time(minimum..=MAX_TIMEOUT))
            .transpose()
    };
    let number = |key: &str, range: std::ops::RangeInclusive<u32>| {
        table
            .get(key)
            .map(|field| field.integer_u32(range))
            .transpose()
    };
    let rule = |key: &str| table.get(key).map(|field| field.boolean()).transpose();
    Ok(Constants {
        initial_window: number("initial_window", 1..=MAX_INITIAL_WINDOW)?,
        rto_initial: time("rto_initial", INSTANT)?,
        rto_min: time("rto_min", INSTANT)?,
        delayed_ack: time("delayed_ack", Span::ZERO)?,
        quick_acks: number("quick_acks", 0..=u32::MAX)?,
        push_acks: rule("push_acks")?,
        bursts: rule("bursts")?,
    })
}

/// `settings` of the connection's algorithm.
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
        let number = value.integer_u32(setting.range)?;
        spec.settings.insert(name.into(), number);
    }
    Ok(())
}

/// An algorithm of lisa's table or of Linux.
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
