//! Groups of coupled subflows of a connection.
//!
//! Subflows of one group are coupled; all start in group 0. [`request`] stores a request in a subflow's slot. The subflow moves on
//! its next ACK, and [`status`] shows its new group from then on. The request is part of the connection's entry.

use crate::contract::lisa_group_request;
use crate::registry::{self, Registered};
use crate::requests::Requests;
use crate::status::{self, Connection, Subflow};
use crate::{Error, Result};
use std::{fmt, net::IpAddr, net::SocketAddr, str::FromStr};

/// Highest number of a group.
pub const GROUP_MAX: u8 = mpcc::GROUP_MAX;

/// Selection of subflows of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which {
    /// The subflow in this slot.
    Slot(u32),
    /// The subflows with this local or remote address.
    Address(IpAddr),
    /// The subflows with this local or remote address and port.
    Socket(SocketAddr),
}

impl Which {
    /// Whether this subflow is selected.
    pub fn selects(&self, subflow: &Subflow) -> bool {
        let mut ends = [subflow.local, subflow.remote].into_iter().flatten();
        match *self {
            Self::Slot(slot) => subflow.slot == slot,
            Self::Address(address) => ends.any(|end| end.ip() == address.to_canonical()),
            Self::Socket(socket) => ends
                .any(|end| (end.ip(), end.port()) == (socket.ip().to_canonical(), socket.port())),
        }
    }
}

impl fmt::Display for Which {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Slot(slot) => slot.fmt(f),
            Self::Address(address) => address.fmt(f),
            Self::Socket(socket) => socket.fmt(f),
        }
    }
}

/// `SUBFLOW=GROUP`: subflows and their new group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Assignment {
    /// The selected subflows.
    pub which: Which,
    /// New group, up to [`GROUP_MAX`].
    pub group: u8,
}

impl FromStr for Assignment {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (which, group) = text
            .split_once('=')
            .ok_or("SUBFLOW=GROUP is needed, as in `1=2` or `10.0.1.2=2`")?;
        let slot = which.parse().map(Which::Slot).ok();
        let which = slot
            .or_else(|| which.parse().map(Which::Address).ok())
            .or_else(|| which.parse().map(Which::Socket).ok())
            .ok_or_else(|| {
                format!("`{which}` is no subflow: a slot, an address or ADDRESS:PORT")
            })?;
        let group = group.parse().ok().filter(|group| *group <= GROUP_MAX);
        let group = group.ok_or_else(|| format!("a group is a number from 0 to {GROUP_MAX}"))?;
        Ok(Self { which, group })
    }
}

/// A connection's token, as [`Connection::token`] shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token(u32);

impl FromStr for Token {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let digits = text.len() <= 8 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        let token = digits.then(|| u32::from_str_radix(text, 16).ok()).flatten();
        token.map(Self).ok_or_else(|| {
            "a token is up to eight hexadecimal digits, as `lisa kernel status` shows it".into()
        })
    }
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:08x}", self.0)
    }
}

/// All open connections, by algorithm.
///
/// # Errors
/// [`Error::NothingLoaded`].
pub fn all() -> Result<Vec<(Registered, Vec<Connection>)>> {
    let registered = registry::find()?;
    if registered.is_empty() {
        return Err(Error::NothingLoaded);
    }
    let with_connections = |registered: Registered| {
        let connections = status::connections(&registered)?;
        Ok((registered, connections))
    };
    registered.into_iter().map(with_connections).collect()
}

/// The connection with this token, and its algorithm.
///
/// # Errors
/// [`Error::NothingLoaded`], [`Error::NoConnection`]; [`Error::TwoAlgorithms`] while a connection changes its algorithm.
pub fn find(token: Token) -> Result<(Registered, Connection)> {
    let token = token.to_string();
    let mut found: Vec<(Registered, Connection)> = Vec::new();
    for (registered, connections) in all()? {
        let one = connections.into_iter().find(|c| c.token == token);
        found.extend(one.map(|connection| (registered, connection)));
    }
    if let [(one, _), (other, _), ..] = &found[..] {
        let names = [one.name().into(), other.name().into()];
        return Err(Error::TwoAlgorithms { token, names });
    }
    found.pop().ok_or(Error::NoConnection { token })
}

/// The subflows that are to move, and their new groups. Every assignment must select a subflow, and no subflow may be assigned
/// to two groups.
///
/// # Errors
/// [`Error::NoSubflow`], [`Error::TwoGroups`].
pub fn assign<'c>(
    connection: &'c Connection,
    assignments: &[Assignment],
) -> Result<Vec<(&'c Subflow, u8)>> {
    let mut moves: Vec<(&Subflow, u8)> = Vec::new();
    for Assignment { which, group } in assignments {
        let mut none = true;
        for subflow in connection.subflows.iter().filter(|s| which.selects(s)) {
            none = false;
            match moves.iter().find(|(other, _)| other.slot == subflow.slot) {
                Some((_, other)) if other != group => {
                    return Err(Error::TwoGroups {
                        slot: subflow.slot,
                        groups: [*other, *group],
                    });
                }
                Some(_) => {}
                None => moves.push((subflow, *group)),
            }
        }
        if none {
            return Err(Error::NoSubflow {
                token: connection.token.clone(),
                which: which.to_string(),
                subflows: connection.subflows.iter().map(Subflow::ends).collect(),
            });
        }
    }
    Ok(moves)
}

/// Requests that subflows of this connection move. A subflow moves on its next ACK outside of a recovery. Returns the number of
/// stored requests: a subflow that has closed takes none.
///
/// # Errors
/// If the kernel refuses a request; the requests before it are stored.
pub fn request(
    registered: &Registered,
    connection: &Connection,
    moves: &[(&Subflow, u8)],
) -> Result<usize> {
    let moves: Vec<_> = (moves.iter())
        .map(|(subflow, group)| (connection, *subflow, *group))
        .collect();
    request_all(registered, &moves)
}

/// As [`request`], of several connections of one algorithm.
///
/// # Errors
/// If the kernel refuses a request; the requests before it are stored.
pub fn request_all(
    registered: &Registered,
    moves: &[(&Connection, &Subflow, u8)],
) -> Result<usize> {
    let requests = Requests::load(registered, None)?;
    let mut stored = 0;
    for (connection, subflow, group) in moves {
        let request = lisa_group_request {
            connection: connection.key,
            slot: subflow.slot,
            generation: subflow.generation,
            group: *group,
            reserved: 0,
        };
        stored += requests.run(&requests.request_group, request)? as usize;
    }
    Ok(stored)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn assignments_are_parsed() {
        let parse = |text: &str| text.parse::<Assignment>();
        let assignment = |which, group| Ok(Assignment { which, group });
        let address = |text: &str| Which::Address(text.parse().unwrap());
        let socket = |text: &str| Which::Socket(text.parse().unwrap());
        assert_eq!(parse("1=2"), assignment(Which::Slot(1), 2));
        assert_eq!(parse("0=238"), assignment(Which::Slot(0), 238));
        assert_eq!(parse("10.0.1.2=3"), assignment(address("10.0.1.2"), 3));
        assert_eq!(parse("fd00::1=3"), assignment(address("fd00::1"), 3));
        assert_eq!(parse("10.0.1.2:80=3"), assignment(socket("10.0.1.2:80"), 3));
        assert_eq!(
            parse("[fd00::1]:80=3"),
            assignment(socket("[fd00::1]:80"), 3)
        );
        for (text, words) in [
            ("1", "SUBFLOW=GROUP is needed"),
            ("1=", "a group is a number from 0 to 238"),
            ("1=239", "a group is a number from 0 to 238"),
            ("1=-1", "a group is a number from 0 to 238"),
            ("1=2=3", "a group is a number from 0 to 238"),
            ("eth0=1", "`eth0` is no subflow"),
            ("=1", "`` is no subflow"),
        ] {
            let error = parse(text).unwrap_err();
            assert!(error.contains(words), "{text}: {error}");
        }
    }

    #[test]
    fn tokens_are_hexadecimal() {
        for (text, shown) in [("1a2b3c4d", "1a2b3c4d"), ("F", "0000000f")] {
            assert_eq!(text.parse::<Token>().unwrap().to_string(), shown);
        }
        for text in ["", "0x1", "+1", "123456789", "lisa"] {
            assert!(text.parse::<Token>().is_err(), "{text}");
        }
    }

    fn connection() -> Connection {
        let subflow = |slot, local: &str| Subflow {
            slot,
            local: Some(local.parse().unwrap()),
            remote: Some("10.0.0.1:5201".parse().unwrap()),
            ..Subflow::default()
        };
        Connection {
            token: "0000abcd".into(),
            subflows: vec![subflow(0, "10.0.1.2:4000"), subflow(2, "10.0.2.2:4001")],
            ..Connection::default()
        }
    }

    fn assigned(texts: &[&str]) -> Result<Vec<(u32, u8)>, String> {
        let assignments: Vec<Assignment> = texts.iter().map(|t| t.parse().unwrap()).collect();
        let connection = connection();
        let moves = assign(&connection, &assignments);
        let moves = moves.map_err(|error| error.to_string())?;
        Ok(moves.iter().map(|(s, group)| (s.slot, *group)).collect())
    }

    #[test]
    fn assignments_select_subflows() {
        assert_eq!(assigned(&["2=1", "0=3"]), Ok(vec![(2, 1), (0, 3)]));
        assert_eq!(assigned(&["10.0.2.2=1"]), Ok(vec![(2, 1)]));
        assert_eq!(assigned(&["::ffff:10.0.2.2=1"]), Ok(vec![(2, 1)]));
        assert_eq!(assigned(&["10.0.1.2:4000=1"]), Ok(vec![(0, 1)]));
        // The remote address of both.
        assert_eq!(assigned(&["10.0.0.1=1"]), Ok(vec![(0, 1), (2, 1)]));
        assert_eq!(assigned(&["10.0.0.1=1", "2=1"]), Ok(vec![(0, 1), (2, 1)]));
        assert_eq!(
            assigned(&["10.0.0.1=1", "2=0"]).unwrap_err(),
            "subflow 2 cannot be in group 1 and in group 0: ask for one of them"
        );
        let there = "it has 0 10.0.1.2:4000 → 10.0.0.1:5201, 2 10.0.2.2:4001 → 10.0.0.1:5201";
        for (which, text) in [("1", "1=1"), ("10.0.1.2:80", "10.0.1.2:80=1")] {
            assert_eq!(
                assigned(&["0=1", text]).unwrap_err(),
                format!("connection 0000abcd has no subflow `{which}`; {there}")
            );
        }
    }
}
