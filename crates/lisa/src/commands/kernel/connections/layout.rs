//! Columns for a width.

use kernel::status::{Connection, Subflow};

use super::cells::{credit, cut, ends, group, length, phase, rate, segments, srtt};
use super::is_grouped;
use crate::output::age;

/// Widths of the columns right of the addresses in a narrow table, each with a space before it: window, threshold, RTT, phase, two
/// throughputs.
const NARROW: [usize; 6] = [5, 5, 6, 5, 6, 6];

/// Width of the further columns in a wide table, each with a space before it: the rest of the phase in full, segments in flight,
/// losses, group.
const WIDE: [usize; 4] = [4, 6, 6, 7];

/// Width of a slot and the spaces around it.
const SLOT: usize = 5;

/// Room for the addresses of IPv4 with both ports, and for a credit. More room is shared by both.
const ADDRESSES: usize = 45;
const CREDIT: usize = 20;

/// Least width of a table with all columns.
const LEAST_WIDE: usize = SLOT + ADDRESSES + width_of(&NARROW) + width_of(&WIDE) + 1 + CREDIT;

/// Width of columns with a space before each.
const fn width_of(columns: &[usize]) -> usize {
    let (mut sum, mut i) = (0, 0);
    while i < columns.len() {
        sum += columns[i] + 1;
        i += 1;
    }
    sum
}

/// Whether the lines name network namespaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Namespaces {
    /// All connections are in one.
    One,
    /// There are several.
    Several,
}

/// Columns for a width.
#[derive(Clone, Copy, Debug)]
pub struct Layout {
    width: usize,
    namespaces: Namespaces,
    grouped: bool,
}

impl Layout {
    /// A layout for lines of at most `width` characters. `grouped`: whether groups are shown.
    pub fn new(width: usize, namespaces: Namespaces, grouped: bool) -> Self {
        Self {
            width,
            namespaces,
            grouped,
        }
    }

    /// Whether all columns fit into a line. Otherwise [`Layout::notes`] has the values of the missing columns.
    pub fn is_wide(&self) -> bool {
        self.width >= LEAST_WIDE
    }

    fn addresses(&self) -> usize {
        match self.is_wide() {
            true => ADDRESSES + (self.width - LEAST_WIDE) / 2,
            false => self.width.saturating_sub(SLOT + width_of(&NARROW)),
        }
    }

    /// Width of a credit in a wide table.
    fn credit(&self) -> usize {
        CREDIT + (self.width - LEAST_WIDE).div_ceil(2)
    }

    /// The titles of the columns.
    pub fn header(&self) -> String {
        let titles = ["cwnd", "ssthr", "srtt", "phase", "↑bit/s", "↓bit/s"];
        let mut line = self.columns("", "connection, subflows", titles);
        if self.is_wide() {
            line += &self.further("flight", "losses", "credit", "group");
        }
        line.trim_end().into()
    }

    /// The further columns of a wide table.
    fn further(&self, flight: &str, losses: &str, credit: &str, group: &str) -> String {
        let credit_width = self.credit();
        let credit = cut(credit, credit_width);
        let group = if self.grouped { group } else { "" };
        format!(" {flight:>6} {losses:>6} {credit:<credit_width$} {group}")
    }

    fn columns(&self, slot: &str, addresses: &str, cells: [&str; 6]) -> String {
        let addresses_width = self.addresses();
        let [cwnd, ssthresh, srtt, phase, sent, received] = cells;
        let phase_width = if self.is_wide() { 10 } else { 5 };
        let head = match slot {
            "" => format!("{addresses:<0$}", SLOT + addresses_width),
            slot => format!(" {slot:>2}  {addresses:<addresses_width$}"),
        };
        format!(
            "{head} {cwnd:>5} {ssthresh:>5} {srtt:>6} {phase:<phase_width$} {sent:>6} {received:>6}"
        )
    }

    /// The line of a connection, with the throughput of all its subflows. `algorithm`: its name, if the lines show several.
    pub fn connection(&self, connection: &Connection, algorithm: Option<&str>) -> String {
        let mut parts = vec![connection.token.clone()];
        if let Some(process) = &connection.process {
            parts.push(format!("{} {}", process.command, process.pid));
        }
        parts.extend(algorithm.map(String::from));
        if self.namespaces == Namespaces::Several {
            let inode = || format!("net:[{}]", connection.netns);
            parts.push(connection.netns_name.clone().unwrap_or_else(inode));
        }
        parts.push(age(connection.age_s));
        let (sent, received) = (
            rate(connection.sum(|subflow| subflow.sent_bps)),
            rate(connection.sum(|subflow| subflow.received_bps)),
        );
        let rates = match connection.subflows.len() {
            // The subflow's own line has them.
            1 => String::new(),
            _ => format!(" {sent:>6} {received:>6}"),
        };
        let line = self.columns("", "", [""; 6]);
        let room = length(&line) - 14;
        let text = cut(&parts.join("  "), room);
        format!("{text:<room$}{rates}").trim_end().into()
    }

    /// The line of a subflow.
    pub fn subflow(&self, subflow: &Subflow) -> String {
        let wide = self.is_wide();
        let mut line = self.columns(
            &subflow.slot.to_string(),
            &ends(subflow, self.addresses()),
            [
                &segments(subflow.cwnd),
                &subflow.ssthresh.map_or("–".into(), segments),
                &srtt(subflow.srtt_us),
                if wide {
                    subflow.phase
                } else {
                    phase(subflow.phase)
                },
                &rate(subflow.sent_bps),
                &rate(subflow.received_bps),
            ],
        );
        if wide {
            line += &self.further(
                &segments(subflow.flight),
                &segments(subflow.losses),
                &credit(subflow),
                &group(subflow),
            );
        }
        line.trim_end().into()
    }

    /// Backups, and the values of a connection's subflows for which their lines have no room: losses, credits and groups.
    pub fn notes(&self, connection: &Connection) -> Option<String> {
        let mut notes = Vec::new();
        for subflow in &connection.subflows {
            let mut parts = Vec::new();
            if subflow.backup == Some(true) {
                parts.push("backup".into());
            }
            if !self.is_wide() {
                parts.extend(Some(credit(subflow)).filter(|credit| !credit.is_empty()));
                if subflow.losses > 0 {
                    let plural = if subflow.losses == 1 { "" } else { "es" };
                    parts.push(format!("{} loss{plural}", segments(subflow.losses)));
                }
                if is_grouped(subflow) {
                    parts.push(format!("group {}", group(subflow)));
                }
            }
            if !parts.is_empty() {
                notes.push(format!("{}: {}", subflow.slot, parts.join(", ")));
            }
        }
        (!notes.is_empty()).then(|| notes.join("; "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kernel::namespace::Process;

    fn connection() -> Connection {
        let subflow = |slot, local: &str| {
            let mut s = Subflow::default();
            (s.slot, s.phase) = (slot, "slow start");
            (s.local, s.remote) = (local.parse().ok(), "203.0.113.100:443".parse().ok());
            (s.cwnd, s.ssthresh, s.srtt_us) = (123_456, Some(100_000), Some(1_500_000.0));
            (s.flight, s.losses) = (12, 3);
            (s.credit, s.credit_from, s.credits_settled) = (10, Some(0), 65_535);
            (s.sent_bps, s.received_bps) = (Some(123.4e6), Some(999.0));
            s
        };
        let process = Process {
            pid: 4_194_304,
            command: "a_long_program".into(),
        };
        let mut connection = Connection::default();
        (connection.token, connection.netns) = ("1a2b3c4d".into(), 4_026_531_840);
        (connection.age_s, connection.process) = (5.0, Some(process));
        connection.subflows = vec![
            subflow(0, "192.168.100.100:54321"),
            subflow(15, "192.168.100.101:54322"),
        ];
        connection
    }

    #[test]
    fn no_line_is_wider_than_the_terminal() {
        let mut connection = connection();
        for (grouped, netns) in [(false, Namespaces::One), (true, Namespaces::Several)] {
            connection.subflows[1].group_asked = grouped.then_some(254);
            for width in [80, 81, 100, LEAST_WIDE - 1, LEAST_WIDE, 160, 300] {
                let layout = Layout::new(width, netns, grouped);
                let mut lines = vec![layout.header()];
                lines.push(layout.connection(&connection, Some("lisa_olia_15_ch")));
                lines.extend(connection.subflows.iter().map(|s| layout.subflow(s)));
                for line in lines {
                    assert!(length(&line) <= width, "{width}: {line}");
                }
            }
        }
    }

    #[test]
    fn columns_are_aligned() {
        let layout = Layout::new(80, Namespaces::One, false);
        assert_eq!(
            [
                layout.header(),
                layout.connection(&connection(), None),
                layout.subflow(&connection().subflows[1]),
            ],
            [
                "connection, subflows                       cwnd ssthr   srtt phase ↑bit/s ↓bit/s",
                "1a2b3c4d  a_long_program 4194304  5.0 s                              247M  2.00k",
                " 15  192.168.100.101 → 203.0.113.100:443   123k  100k   1.5s start   123M    999",
            ]
        );
    }

    #[test]
    fn what_has_no_column_is_a_note() {
        let narrow = Layout::new(80, Namespaces::One, false);
        let note =
            "0: took 10 from 0, gave 65535, 3 losses; 15: took 10 from 0, gave 65535, 3 losses";
        assert_eq!(narrow.notes(&connection()).as_deref(), Some(note));
        let wide = Layout::new(160, Namespaces::One, false);
        assert_eq!(wide.notes(&connection()), None);
        let line = wide.subflow(&connection().subflows[1]);
        assert!(line.contains("slow start"), "{line}");
        assert!(
            line.ends_with(" 12      3 took 10 from 0, gave 65535"),
            "{line}"
        );
    }
}
