//! Checks that the lab supports a scenario, before anything is set up.

use scenario::{ConnectionSpec, Scenario};

use crate::error::Error;
use crate::features::{FLOWS, MAX_FLOWS, RESTRICTIONS};

/// Checks that the lab can run a scenario.
///
/// # Errors
/// The first of [`unsupported`].
pub(crate) fn check(scenario: &Scenario) -> Result<(), Error> {
    match unsupported(scenario).into_iter().next() {
        None => Ok(()),
        Some(error) => Err(error),
    }
}

/// All reasons why neither a host nor a VM can run a scenario, in the order of the scenario; none if both can.
#[must_use]
pub fn unsupported(scenario: &Scenario) -> Vec<Error> {
    let mut errors = Vec::new();
    for connection in &scenario.connections {
        let used = RESTRICTIONS
            .iter()
            .filter(|restriction| restriction.uses.is_some_and(|uses| uses(connection)));
        errors.extend(used.map(|restriction| restriction.error(place(connection))));
    }
    if let Ok(graph) = scenario.topology.build() {
        let all = scenario.connections.iter();
        if all.map(|connection| connection.flows(&graph)).sum::<u64>() > MAX_FLOWS {
            errors.push(FLOWS.error("connection".into()));
        }
    }
    errors
}

/// The connection in an error.
fn place(connection: &ConnectionSpec) -> String {
    format!("connection `{}`", connection.name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reasons(topology: &str, connection: &str) -> Vec<String> {
        let text = format!(
            "stop = \"9s\"\n[topology]\n{topology}\n[[connection]]\nname = \"a\"\n{connection}\n"
        );
        let scenario = Scenario::parse(&text, "a.toml").unwrap();
        let reasons: Vec<String> = (unsupported(&scenario).iter())
            .map(Error::to_string)
            .collect();
        let first = check(&scenario).err().map(|error| error.to_string());
        assert_eq!(first.as_ref(), reasons.first());
        reasons
    }

    const TREE: &str = "kind = \"fat-tree\"\nk = 4\nrate = \"5Mbit\"\nrtt = \"5ms\"\nqueue = 17";
    const SHARED: &str =
        "kind = \"shared-bottleneck\"\nrate = \"5Mbit\"\nrtt = [\"40ms\", \"40ms\"]\nqueue = 17";

    #[test]
    fn all_reasons_are_listed() {
        let found = reasons(
            TREE,
            "pattern = \"random\"\ncount = 5\nbytes = 1\nmss = 500\njoin_delay = \"1s\"\nprotocol = \"mptcp\"",
        );
        let parts = ["a `join_delay`", "an `mss`", "more than 64 connections"];
        assert_eq!(found.len(), parts.len(), "{found:?}");
        for (reason, part) in found.iter().zip(parts) {
            assert!(reason.contains(part), "{part}: {found:?}");
        }
    }

    #[test]
    fn what_a_kernel_has_is_supported() {
        let connections = [
            "protocol = \"mptcp\"\nbytes = 1\nreceive_window = \"4MiB\"",
            "protocol = \"mptcp\"\nbytes = 1\nalgorithm = \"css\"\ninitial_ssthresh = \"bdp\"",
            "protocol = \"mptcp\"\nbytes = 1\nbackup = [false, true]\n[[connection]]\nprotocol = \"mptcp\"\nbytes = 1",
            "protocol = \"mptcp\"\nsubflows = 3\nbytes = 1",
            "protocol = \"udp\"\nrate = \"1kbit\"",
            "protocol = \"tcp\"\nbytes = 0",
            "protocol = \"tcp\"\nrequests = { count = 2, bytes = 1, gap = \"1s\" }",
            "protocol = \"tcp\"\nbytes = 1\npath = 2",
            "protocol = \"tcp\"\nbytes = 1\ncount = 2",
            "protocol = \"tcp\"\nbytes = 1\nstart = { from = \"1s\", to = \"2s\" }",
            "protocol = \"tcp\"\nbytes = 1\necn = true",
        ];
        for connection in connections {
            assert_eq!(reasons(SHARED, connection), [""; 0], "{connection}");
        }
        assert_eq!(
            reasons(TREE, "pattern = \"permutation\"\nbytes = 1"),
            [""; 0]
        );
    }

    #[test]
    fn unsupported_features_are_one_line() {
        let connections = [
            "protocol = \"mptcp\"\nsubflows = 10\nbytes = 1",
            "protocol = \"tcp\"\nbytes = 1\nprofile = \"linux-3.14\"",
            "protocol = \"tcp\"\nbytes = 1\ninitial_window = 4",
            "protocol = \"tcp\"\nbytes = 1\ninitial_ssthresh = \"bdp\"",
            "protocol = \"mptcp\"\nbytes = 1\ngroups = [0, 1]",
            "protocol = \"mptcp\"\nbytes = 1\nregroup = { at = \"1s\", groups = [0, 1] }",
        ];
        for connection in connections {
            let found = reasons(SHARED, connection);
            assert_eq!(found.len(), 1, "{connection}: {found:?}");
            let error = &found[0];
            assert!(
                error.starts_with("connection `a`: the lab does not support "),
                "{error}"
            );
            assert!(
                error.ends_with("`--on sim`") && !error.contains('\n'),
                "{error}"
            );
        }
    }
}
