//! What `top` shows, and what its keys change.

use kernel::filter::Filter;
use kernel::status::{Connection, Status, Subflow};
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// Order of the connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    Throughput,
    Window,
    Rtt,
    Newest,
    Oldest,
}

impl Order {
    const ALL: [Self; 5] = [
        Self::Throughput,
        Self::Window,
        Self::Rtt,
        Self::Newest,
        Self::Oldest,
    ];

    /// For the help line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Throughput => "throughput",
            Self::Window => "cwnd",
            Self::Rtt => "srtt",
            Self::Newest => "newest",
            Self::Oldest => "oldest",
        }
    }

    fn moved(self, steps: usize) -> Self {
        let at = Self::ALL.iter().position(|order| *order == self);
        Self::ALL[(at.unwrap_or(0) + steps) % Self::ALL.len()]
    }

    /// The largest is the first.
    fn key(self, connection: &Connection) -> f64 {
        let subflows = connection.subflows.iter();
        match self {
            Self::Throughput => connection
                .sum(|s| Some(s.sent_bps? + s.received_bps?))
                .unwrap_or(-1.0),
            Self::Window => subflows.map(|s| f64::from(s.cwnd)).sum(),
            Self::Rtt => subflows.filter_map(|s| s.srtt_us).fold(0.0, f64::max),
            Self::Newest => -connection.age_s,
            Self::Oldest => connection.age_s,
        }
    }
}

/// Whether to continue after a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    Go,
    Quit,
}

/// A line of the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// Index of the algorithm.
    pub status: usize,
    /// Index of its connection.
    pub connection: usize,
    /// Index of the connection's subflow; `None`: the line of the connection.
    pub subflow: Option<usize>,
}

/// The state of the screen.
pub struct View {
    /// All algorithms with all connections.
    pub statuses: Vec<Status>,
    /// The connections that match the filter, and their subflows, in the order of the screen.
    pub rows: Vec<Row>,
    pub selected: usize,
    /// The first row on the screen.
    pub offset: usize,
    pub order: Order,
    pub filter: Filter,
    /// The filter that is being typed.
    pub input: Option<String>,
    /// Why the typed filter is wrong.
    pub complaint: Option<String>,
    /// Number of connections that do not match the filter.
    pub hidden: usize,
}

/// Identifies a row in two updates.
type RowId = (String, u32, Option<u32>);

impl View {
    pub fn new(filter: Filter) -> Self {
        Self {
            statuses: Vec::new(),
            rows: Vec::new(),
            selected: 0,
            offset: 0,
            order: Order::Throughput,
            filter,
            input: None,
            complaint: None,
            hidden: 0,
        }
    }

    /// Shows a new status.
    pub fn update(&mut self, statuses: Vec<Status>) {
        // The former rows belong to the former list.
        let selected = self.selected_id();
        self.statuses = statuses;
        self.arrange(selected);
    }

    fn selected_id(&self) -> Option<RowId> {
        self.rows.get(self.selected).map(|row| self.id(row))
    }

    /// Filters and sorts. The selection moves to this row.
    fn arrange(&mut self, selected: Option<RowId>) {
        let mut order: Vec<(f64, usize, usize)> = Vec::new();
        self.hidden = 0;
        for (i, status) in self.statuses.iter().enumerate() {
            let known = self.filter.has_algorithm(&status.name, &status.algorithm);
            for (j, connection) in status.connections.iter().enumerate() {
                if known && self.filter.matches(connection) {
                    order.push((self.order.key(connection), i, j));
                } else {
                    self.hidden += 1;
                }
            }
        }
        order.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)).then(a.2.cmp(&b.2)));
        self.rows.clear();
        for (_, status, connection) in order {
            let subflows = self.statuses[status].connections[connection].subflows.len();
            let lines = std::iter::once(None).chain((0..subflows).map(Some));
            self.rows.extend(lines.map(|subflow| Row {
                status,
                connection,
                subflow,
            }));
        }
        let is_same = |row: &Row| Some(self.id(row)) == selected;
        let last = self.rows.len().saturating_sub(1);
        self.selected = match self.selected {
            // The top of the list stays the top.
            0 => 0,
            before => self
                .rows
                .iter()
                .position(is_same)
                .unwrap_or(before)
                .min(last),
        };
    }

    fn id(&self, row: &Row) -> RowId {
        let connection = self.connection(row);
        let slot = self.subflow(row).map(|subflow| subflow.slot);
        (connection.token.clone(), connection.netns, slot)
    }

    pub fn connection(&self, row: &Row) -> &Connection {
        &self.statuses[row.status].connections[row.connection]
    }

    pub fn subflow(&self, row: &Row) -> Option<&Subflow> {
        Some(&self.connection(row).subflows[row.subflow?])
    }

    /// Handles a key.
    pub fn key(&mut self, key: KeyEvent) -> Next {
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        if control && key.code == KeyCode::Char('c') {
            return Next::Quit;
        }
        if self.input.is_some() {
            if !control {
                self.type_key(key.code);
            }
            return Next::Go;
        }
        let orders = Order::ALL.len();
        let last = self.rows.len().saturating_sub(1);
        match key.code {
            KeyCode::Char('q') | KeyCode::Esc => return Next::Quit,
            KeyCode::Char('/') => {
                (self.input, self.complaint) = (Some(self.filter.to_string()), None);
            }
            KeyCode::Char('s' | '>') => self.sort(self.order.moved(1)),
            KeyCode::Char('<') => self.sort(self.order.moved(orders - 1)),
            KeyCode::Down | KeyCode::Char('j') => self.selected = (self.selected + 1).min(last),
            KeyCode::Up | KeyCode::Char('k') => self.selected = self.selected.saturating_sub(1),
            KeyCode::PageDown => self.selected = (self.selected + 15).min(last),
            KeyCode::PageUp => self.selected = self.selected.saturating_sub(15),
            KeyCode::Home => self.selected = 0,
            KeyCode::End => self.selected = last,
            _ => {}
        }
        Next::Go
    }

    fn sort(&mut self, order: Order) {
        self.order = order;
        let selected = self.selected_id();
        self.arrange(selected);
    }

    /// A key while the filter is typed: Enter applies it, Escape keeps the former one.
    fn type_key(&mut self, code: KeyCode) {
        let Some(input) = &mut self.input else {
            return;
        };
        match code {
            KeyCode::Char(c) => input.push(c),
            KeyCode::Backspace => {
                input.pop();
            }
            KeyCode::Esc => (self.input, self.complaint) = (None, None),
            KeyCode::Enter => match input.parse() {
                Ok(filter) => {
                    (self.filter, self.input, self.complaint) = (filter, None, None);
                    let selected = self.selected_id();
                    self.arrange(selected);
                }
                Err(why) => self.complaint = Some(why),
            },
            _ => {}
        }
    }
}

#[cfg(test)]
pub(super) mod tests;
