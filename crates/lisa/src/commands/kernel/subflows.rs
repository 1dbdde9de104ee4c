//! The cells of a subflow in the tables of `status` and `top`.

use kernel::status::{Connection, Subflow};

/// Titles of the columns of a subflow. The last column is shown only if subflows are [`grouped`].
pub const COLUMNS: [&str; 10] = [
    "connection",
    "subflow",
    "cwnd",
    "ssthresh",
    "srtt",
    "flight",
    "phase",
    "losses",
    "credit",
    "group",
];

/// Number of columns that are shown.
pub fn columns(grouped: bool) -> usize {
    COLUMNS.len() - usize::from(!grouped)
}

/// Whether a subflow of these connections is outside of group 0, in which all start, or is requested to move.
pub fn grouped(connections: &[Connection]) -> bool {
    let mut subflows = connections.iter().flat_map(|c| &c.subflows);
    subflows.any(|s| s.group != 0 || s.group_asked.is_some() || s.uncoupled)
}

/// The group of a subflow, and the requested group if it differs: `1`, `0 → 1`.
pub fn group(subflow: &Subflow) -> String {
    if subflow.uncoupled {
        return "off".into();
    }
    match subflow.group_asked {
        Some(requested) => format!("{} → {requested}", subflow.group),
        None => subflow.group.to_string(),
    }
}

/// The cells of a subflow, in the order of [`COLUMNS`].
pub fn cells(connection: &Connection, subflow: &Subflow) -> [String; 10] {
    let mut credit = Vec::new();
    if let Some(from) = subflow.credit_from {
        credit.push(format!("took {} from {from}", subflow.credit));
    }
    if subflow.credits_settled > 0 {
        credit.push(format!("gave {}", subflow.credits_settled));
    }
    if subflow.debit > 0 {
        credit.push(format!("owes {}", subflow.debit));
    }
    if subflow.credits_void > 0 {
        credit.push(format!("{} void", subflow.credits_void));
    }
    [
        connection.token.clone(),
        subflow.ends(),
        subflow.cwnd.to_string(),
        subflow.ssthresh.map_or("–".into(), |s| s.to_string()),
        subflow
            .srtt_us
            .map_or("–".into(), |us| format!("{:.1} ms", us / 1e3)),
        subflow.flight.to_string(),
        subflow.phase.into(),
        subflow.losses.to_string(),
        credit.join(", "),
        group(subflow),
    ]
}
