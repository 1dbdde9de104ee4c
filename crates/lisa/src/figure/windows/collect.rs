//! The lines and marks of congestion windows, from the rows of a trace in order of time.

use std::collections::{BTreeMap, BTreeSet};

use scenario::trace::{Credit, Phase};

use super::reductions::Reductions;
use crate::figure::envelope::{Between, Envelope};

/// A part of a run's time, seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// Begin.
    pub from: f64,
    /// End.
    pub to: f64,
}

impl Interval {
    /// All times.
    pub const ALL: Self = Self {
        from: f64::NEG_INFINITY,
        to: f64::INFINITY,
    };

    /// Whether a time is inside.
    pub fn has(&self, time: f64) -> bool {
        (self.from..=self.to).contains(&time)
    }
}

/// The state of a subflow after an event.
#[derive(Clone, Copy, Debug)]
pub struct State {
    /// Seconds since the start of the run.
    pub time: f64,
    /// Congestion window, segments.
    pub cwnd: f64,
    /// Slow start threshold, segments.
    pub ssthresh: Option<f64>,
    /// Phase of congestion control.
    pub phase: Phase,
}

/// A subflow.
#[derive(Debug)]
pub struct Subflow {
    /// Window over time.
    pub window: Envelope,
    /// Time and window at the start of each reduction.
    pub reductions: Vec<(f64, f64)>,
    /// Time and window at each end of slow start.
    pub exits: Vec<(f64, f64)>,
    /// Times of losses in the network.
    pub losses: Vec<f64>,
    finder: Reductions,
    phase: Option<Phase>,
    /// Window before the start of the interval.
    before: Option<f64>,
    cwnd: f64,
}

impl Subflow {
    fn new() -> Self {
        Self {
            window: Envelope::new(Between::Holds),
            reductions: Vec::new(),
            exits: Vec::new(),
            losses: Vec::new(),
            finder: Reductions::default(),
            phase: None,
            before: None,
            cwnd: 0.0,
        }
    }
}

/// A credit that was settled.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lent {
    /// Time at which the credit was taken, seconds.
    pub time: f64,
    /// Number of the lender, from 0.
    pub from: usize,
    /// Segments.
    pub segments: f64,
}

/// A connection.
#[derive(Debug, Default)]
pub struct Connection {
    /// Subflows, by their number from 0.
    pub subflows: BTreeMap<usize, Subflow>,
    /// Sum of the windows over time.
    pub sum: Option<Envelope>,
    /// Credits that were settled.
    pub credits: Vec<Lent>,
    total: f64,
    /// Sum before the start of the interval.
    before: Option<f64>,
}

/// The connections of a run in an interval of time.
#[derive(Debug)]
pub struct Windows {
    interval: Interval,
    /// Titles of the connections, in the order of their first rows.
    pub titles: Vec<String>,
    /// The connections, in the same order.
    pub connections: Vec<Connection>,
    numbers: BTreeMap<String, usize>,
    /// The last connection: successive rows are often of one.
    last: usize,
    /// The connections to collect; empty: all.
    wanted: Vec<String>,
    /// Largest number of connections that are kept.
    most: usize,
    /// Further connections.
    others: BTreeSet<String>,
}

/// Largest number of further connections that are counted.
const MOST_OTHERS: usize = 100_000;

impl Windows {
    /// Windows of at most this number of these connections, by title or name; of any if there are none.
    pub fn new(interval: Interval, wanted: &[String], most: usize) -> Self {
        Self {
            interval,
            titles: Vec::new(),
            connections: Vec::new(),
            numbers: BTreeMap::new(),
            last: 0,
            wanted: wanted.to_vec(),
            most,
            others: BTreeSet::new(),
        }
    }

    fn connection(&mut self, title: &str) -> Option<&mut Connection> {
        if self.titles.get(self.last).is_none_or(|last| last != title) {
            self.last = match self.numbers.get(title) {
                Some(number) => *number,
                None if !is_wanted(&self.wanted, title) => return None,
                None if self.titles.len() >= self.most => {
                    if self.others.len() < MOST_OTHERS && !self.others.contains(title) {
                        self.others.insert(title.into());
                    }
                    return None;
                }
                None => {
                    self.titles.push(title.into());
                    self.connections.push(Connection::default());
                    self.numbers.insert(title.into(), self.titles.len() - 1);
                    self.titles.len() - 1
                }
            };
        }
        Some(&mut self.connections[self.last])
    }

    /// Number of further connections.
    pub fn others(&self) -> usize {
        self.others.len()
    }

    /// Adds a row of a subflow, whose number is from 0.
    pub fn add(&mut self, title: &str, subflow: usize, state: State) {
        let interval = self.interval;
        let Some(connection) = self.connection(title) else {
            return;
        };
        let State { time, cwnd, .. } = state;
        let of = connection
            .subflows
            .entry(subflow)
            .or_insert_with(Subflow::new);
        connection.total += cwnd - of.cwnd;
        of.cwnd = cwnd;
        let reduces = of.finder.begins(state);
        let exits = of.phase == Some(Phase::SlowStart)
            && matches!(state.phase, Phase::Avoidance | Phase::Recovery);
        of.phase = Some(state.phase);
        if time < interval.from {
            (of.before, connection.before) = (Some(cwnd), Some(connection.total));
            return;
        }
        if time > interval.to {
            return;
        }
        if let Some(before) = of.before.take() {
            of.window.add(interval.from, before);
        }
        of.window.add(time, cwnd);
        if reduces {
            of.reductions.push((time, cwnd));
        }
        if exits {
            of.exits.push((time, cwnd));
        }
        if connection.sum.is_none() && connection.subflows.len() > 1 {
            // The sum begins as the only window did.
            let first = connection.subflows.values().next();
            connection.sum = first.map(|subflow| subflow.window.clone());
        }
        if let Some(sum) = &mut connection.sum {
            if let Some(before) = connection.before.take() {
                sum.add(interval.from, before);
            }
            sum.add(time, connection.total);
        }
    }

    /// Adds a loss in the network.
    pub fn lost(&mut self, title: &str, subflow: usize, time: f64) {
        if !self.interval.has(time) {
            return;
        }
        if let Some(subflow) = (self.connection(title)).and_then(|c| c.subflows.get_mut(&subflow)) {
            subflow.losses.push(time);
        }
    }

    /// Adds a credit, whose subflows count from 0. Void credits are not drawn.
    pub fn lent(&mut self, credit: &Credit) {
        if !self.interval.has(credit.taken) || credit.settled.is_none() {
            return;
        }
        if let Some(connection) = self.connection(&credit.connection) {
            connection.credits.push(Lent {
                time: credit.taken,
                from: credit.from,
                segments: credit.segments.into(),
            });
        }
    }

    /// Puts the connections in the order of these names, those of one name in the order of their numbers.
    pub fn order(&mut self, names: &[&str]) {
        let key = |title: &str| {
            let own = |name: &&str| is_wanted(&[(*name).to_owned()], title);
            let name = names.iter().position(own).unwrap_or(names.len());
            let number = title
                .rsplit(' ')
                .next()
                .and_then(|number| number.parse::<u32>().ok());
            (name, number.unwrap_or(1))
        };
        let titles = std::mem::take(&mut self.titles);
        let connections = std::mem::take(&mut self.connections);
        let mut all: Vec<(String, Connection)> = titles.into_iter().zip(connections).collect();
        all.sort_by_key(|(title, _)| key(title));
        (self.titles, self.connections) = all.into_iter().unzip();
    }

    /// Ends the lines at the end of the interval if the run goes on after it.
    pub fn finish(&mut self, end: Option<f64>) {
        let interval = self.interval;
        for connection in &mut self.connections {
            for subflow in connection.subflows.values_mut() {
                let goes_on = end.is_some_and(|end| end >= interval.from);
                if let Some(before) = subflow.before.take().filter(|_| goes_on) {
                    subflow.window.add(interval.from, before);
                }
                let goes_on = end.is_some_and(|end| end > interval.to);
                let value = subflow.window.at(interval.to).filter(|_| goes_on);
                if let Some(value) = value {
                    subflow.window.add(interval.to, value);
                }
            }
        }
        let has = |connection: &Connection| {
            (connection.subflows.values()).any(|subflow| subflow.window.values().is_some())
        };
        let keep: Vec<bool> = self.connections.iter().map(has).collect();
        let mut kept = keep.iter();
        self.titles.retain(|_| kept.next() == Some(&true));
        let mut kept = keep.iter();
        self.connections.retain(|_| kept.next() == Some(&true));
    }
}

/// Whether a title is that of a wanted connection: `host`, or the second of this name, `host 2`.
pub fn is_wanted(wanted: &[String], title: &str) -> bool {
    let is = |name: &String| {
        let rest = title.strip_prefix(name.as_str());
        rest.is_some_and(|rest| {
            let number = rest.strip_prefix(' ');
            rest.is_empty() || number.is_some_and(|n| n.bytes().all(|b| b.is_ascii_digit()))
        })
    };
    wanted.is_empty() || wanted.iter().any(is)
}
