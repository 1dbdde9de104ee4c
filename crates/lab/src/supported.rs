//! Checks that the lab supports a scenario, before anything is set up.

use netsim::Span;
use scenario::{Application, ConnectionSpec, Length, Protocol, Scenario, Size};

use crate::error::Error;
use crate::features::{APPLICATION, BACKUPS, RECEIVE_WINDOWS, RESTRICTIONS};
use crate::network::paths;

/// Size of a connection's transfer, bytes; none: it is endless.
pub(crate) fn bytes(connection: &ConnectionSpec) -> Result<Option<u64>, Error> {
    match connection.application {
        Application::Bytes(Size::Fixed(bytes @ 1..)) => Ok(Some(bytes)),
        Application::Endless => Ok(None),
        _ => Err(APPLICATION.error(place(connection))),
    }
}

/// Properties that all connections of a scenario share, because they are settings of the namespaces, not of the sockets.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Common {
    /// Receive buffer, bytes.
    pub(crate) receive_window: Option<u32>,
    /// For each path, whether its subflows are backups.
    pub(crate) backup: Vec<bool>,
}

/// Checks that the lab can run a scenario. Returns the common properties of its connections.
///
/// # Errors
/// The first of [`unsupported`].
pub(crate) fn check(scenario: &Scenario) -> Result<Common, Error> {
    let (common, errors) = examine(scenario);
    match errors.into_iter().next() {
        None => Ok(common),
        Some(error) => Err(error),
    }
}

/// All reasons why neither a host nor a VM can run a scenario, in the order of the scenario; none if both can.
#[must_use]
pub fn unsupported(scenario: &Scenario) -> Vec<Error> {
    examine(scenario).1
}

/// The common properties of the connections, and everything that the lab lacks.
fn examine(scenario: &Scenario) -> (Common, Vec<Error>) {
    let mut errors = Vec::new();
    let paths = match paths(&scenario.topology) {
        Ok(paths) => Some(paths),
        Err(error) => {
            errors.push(error);
            None
        }
    };
    let all = || scenario.connections.iter();
    let mut windows = all().map(|connection| connection.receive_window);
    let window = windows.next().flatten();
    if windows.any(|other| other != window) {
        errors.push(RECEIVE_WINDOWS.error("receive_window".into()));
    }
    let mptcp = all().filter(|connection| connection.protocol == Protocol::Mptcp);
    let is_backup =
        |connection: &ConnectionSpec, path: usize| connection.backup.get(path) == Some(&true);
    let flags = |connection: &ConnectionSpec| -> Vec<bool> {
        let paths = paths.unwrap_or(connection.backup.len());
        (0..paths).map(|path| is_backup(connection, path)).collect()
    };
    let mut backups = mptcp.map(flags);
    let backup: Vec<bool> = backups.next().unwrap_or_default();
    if backups.any(|other| other != backup) {
        errors.push(BACKUPS.error("backup".into()));
    }
    for connection in &scenario.connections {
        errors.extend(bytes(connection).err());
        // Without a supported topology the number of paths is unknown: as many as subflows does not add a reason.
        let paths = paths.unwrap_or(connection.subflows as usize);
        let used = RESTRICTIONS
            .iter()
            .filter(|restriction| restriction.uses.is_some_and(|uses| uses(connection, paths)));
        errors.extend(used.map(|restriction| restriction.error(place(connection))));
    }
    let common = Common {
        receive_window: window.map(|bytes| u32::try_from(bytes).unwrap_or(u32::MAX)),
        backup,
    };
    (common, errors)
}

/// The connection in an error.
fn place(connection: &ConnectionSpec) -> String {
    format!("connection `{}`", connection.name)
}

/// Start of a supported connection.
pub(crate) fn begin(connection: &ConnectionSpec) -> Span {
    match connection.start {
        Length::Fixed(begin) => begin,
        _ => Span::ZERO,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_reasons_are_listed() {
        let text = "stop = \"9s\"\n[topology]\nkind = \"fat-tree\"\nk = 4\nrate = \"5Mbit\"\nrtt = \"5ms\"\nqueue = 17\n\
            [[connection]]\nname = \"a\"\npattern = \"random\"\nbytes = 0\necn = true\n";
        let scenario = Scenario::parse(text, "a.toml").unwrap();
        let reasons: Vec<String> = unsupported(&scenario)
            .iter()
            .map(Error::to_string)
            .collect();
        for part in [
            "any network but",
            "of a fixed number",
            "paths other than",
            "`ecn`",
        ] {
            assert!(
                reasons.iter().any(|reason| reason.contains(part)),
                "{part}: {reasons:?}"
            );
        }
        assert_eq!(check(&scenario).unwrap_err().to_string(), reasons[0]);
    }

    #[test]
    fn unsupported_features_are_one_line() {
        let file = |topology: &str, connection: &str| {
            format!(
                "stop = \"9s\"\n[topology]\n{topology}\n[[connection]]\nname = \"a\"\n{connection}\n"
            )
        };
        let shared = "kind = \"shared-bottleneck\"\nrate = \"5Mbit\"\nrtt = [\"40ms\", \"40ms\"]\nqueue = 17";
        let check = |text: &str| check(&Scenario::parse(text, "a.toml").unwrap());
        let window = "protocol = \"mptcp\"\nbytes = 1\nreceive_window = \"4MiB\"";
        let common = check(&file(shared, window)).unwrap();
        assert_eq!(common.receive_window, Some(4 << 20));
        assert_eq!(common.backup, [false, false]);
        let css =
            "protocol = \"mptcp\"\nbytes = 1\nalgorithm = \"css\"\ninitial_ssthresh = \"bdp\"";
        check(&file(shared, css)).unwrap();
        let backup = "protocol = \"mptcp\"\nbytes = 1\nbackup = [false, true]";
        // A TCP connection has no subflows that could be backups.
        let beside = format!("{backup}\n[[connection]]\nbytes = 1");
        assert_eq!(check(&file(shared, &beside)).unwrap().backup, [false, true]);
        let other = format!("{backup}\n[[connection]]\nprotocol = \"mptcp\"\nbytes = 1");
        let error = check(&file(shared, &other)).unwrap_err().to_string();
        assert!(
            error
                .starts_with("backup: the lab does not support connections with different backups"),
            "{error}"
        );
        for connection in [
            "protocol = \"udp\"\nrate = \"1kbit\"",
            "protocol = \"tcp\"\nbytes = 0",
            "protocol = \"tcp\"\nrequests = { count = 2, bytes = 1, gap = \"1s\" }",
            "protocol = \"mptcp\"\nsubflows = 3\nbytes = 1",
            "protocol = \"tcp\"\nbytes = 1\npath = 2",
            "protocol = \"tcp\"\nbytes = 1\ncount = 2",
            "protocol = \"tcp\"\nbytes = 1\nstart = { from = \"1s\", to = \"2s\" }",
            "protocol = \"tcp\"\nbytes = 1\nprofile = \"linux-3.14\"",
            "protocol = \"tcp\"\nbytes = 1\necn = true",
            "protocol = \"tcp\"\nbytes = 1\ninitial_window = 4",
            "protocol = \"tcp\"\nbytes = 1\ninitial_ssthresh = \"bdp\"",
            "protocol = \"mptcp\"\nbytes = 1\ngroups = [0, 1]",
            "protocol = \"mptcp\"\nbytes = 1\nregroup = { at = \"1s\", groups = [0, 1] }",
        ] {
            let error = check(&file(shared, connection)).unwrap_err().to_string();
            assert!(
                error.starts_with("connection `a`: the lab does not support "),
                "{error}"
            );
            assert!(
                error.ends_with("`--on sim`") && !error.contains('\n'),
                "{error}"
            );
        }
        let tree = "kind = \"fat-tree\"\nk = 4\nrate = \"5Mbit\"\nrtt = \"5ms\"\nqueue = 17";
        let error = check(&file(tree, "pattern = \"random\"\nbytes = 1")).unwrap_err();
        assert!(
            error
                .to_string()
                .starts_with("topology: the lab does not support any network but")
        );
    }
}
