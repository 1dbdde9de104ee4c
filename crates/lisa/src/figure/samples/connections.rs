//! Goodput of connections over time, and how fair it is: the sums of the rows of their subflows.

use std::collections::BTreeMap;

use scenario::export::columns::Value;

use super::columns::FAIRNESS;

/// Column of the goodput.
const GOODPUT: &str = "goodput_mbps";

/// Title of the line of the index.
pub const TITLE: &str = "all connections";

/// Adds the rows of subflows of one time to rows of connections, with the columns of [`Connections::columns`].
#[derive(Debug)]
pub struct Connections {
    /// The columns `connection` and `number`, as far as the table has them.
    names: Vec<&'static str>,
    /// Columns of settings.
    settings: Vec<String>,
    /// The columns `backend` and `seed`, as far as the table has them.
    run: Vec<&'static str>,
    has_algorithm: bool,
    /// Settings and run of the rows that are added, and their time.
    of: Option<(Vec<String>, f64)>,
    /// Goodput of each connection by the texts of its rows.
    goodputs: BTreeMap<Vec<String>, f64>,
}

impl Connections {
    /// Columns that are drawn.
    pub const METRICS: [&str; 2] = [GOODPUT, FAIRNESS];

    /// The connections of a table with these columns.
    ///
    /// # Errors
    /// If the table has no goodput of subflows.
    pub fn new(columns: &[&str]) -> Result<Self, String> {
        let has = |name: &str| columns.contains(&name);
        if !["time_s", "connection", "subflow", GOODPUT]
            .iter()
            .all(|name| has(name))
        {
            return Err(format!(
                "--connections: the file has no `{GOODPUT}` of subflows"
            ));
        }
        let settings = columns.iter().position(|name| *name == "algorithm");
        let settings = columns[..settings.unwrap_or(0)].iter();
        let run = ["backend", "seed"].into_iter().filter(|name| has(name));
        let names = ["connection", "number"].into_iter();
        Ok(Self {
            names: names.filter(|name| has(name)).collect(),
            settings: settings.map(|name| (*name).into()).collect(),
            run: run.collect(),
            has_algorithm: has("algorithm"),
            of: None,
            goodputs: BTreeMap::new(),
        })
    }

    /// The columns of a table of connections.
    pub fn columns(&self) -> Vec<&str> {
        let algorithm = self.has_algorithm.then_some("algorithm");
        let settings = self.settings.iter().map(String::as_str);
        let run = self.run.iter().copied();
        let names = self.names.iter().copied();
        let all = settings.chain(algorithm).chain(run).chain(["time_s"]);
        all.chain(names).chain(Self::METRICS).collect()
    }

    /// The columns that [`add`](Self::add) takes, in the order of [`super::Samples::columns`]: texts, then time and goodput.
    pub fn wanted(&self) -> (Vec<&str>, [&str; 2]) {
        let algorithm = self.has_algorithm.then_some("algorithm");
        let names = self.names.iter().copied();
        let texts = names.chain(self.settings.iter().map(String::as_str));
        let texts = texts.chain(self.run.iter().copied()).chain(algorithm);
        (texts.collect(), ["time_s", GOODPUT])
    }

    /// Adds a row of a subflow. `done` gets the rows of the time before, when it is complete.
    pub fn add(&mut self, row: &[Value<'_>], done: impl FnMut(&[Value<'_>])) {
        let texts = row.len() - 2;
        let (Some(time), Some(goodput)) = (super::float(row[texts]), super::float(row[texts + 1]))
        else {
            return;
        };
        let run = self.names.len()..texts - usize::from(self.has_algorithm);
        let texts = row[..texts].iter().map(|value| super::text(*value));
        let connection: Vec<String> = texts.collect();
        let of = Some((connection[run].to_vec(), time));
        if self.of != of {
            self.finish(done);
            self.of = of;
        }
        *self.goodputs.entry(connection).or_default() += goodput;
    }

    /// Gives the rows of the last time: a row for each connection, and one with Jain's index of all. Without `-a` connections of one run
    /// have different algorithms, and the index is of none of them.
    pub fn finish(&mut self, mut done: impl FnMut(&[Value<'_>])) {
        let goodputs = std::mem::take(&mut self.goodputs);
        let Some((_, time)) = self.of.take() else {
            return;
        };
        let mut give = |texts: &[String], values: [Value<'_>; 2]| {
            let mut row: Vec<Value<'_>> = texts.iter().map(|text| Value::Text(text)).collect();
            row.push(Value::Float(time));
            row.extend(values);
            done(&row);
        };
        for (connection, goodput) in &goodputs {
            give(connection, [Value::Float(*goodput), Value::None]);
        }
        let mut all = goodputs.keys().next().cloned().unwrap_or_default();
        all[..self.names.len()].fill(String::new());
        all[0] = TITLE.into();
        let is_one = |algorithm: &String| goodputs.keys().all(|of| of.last() == Some(algorithm));
        if let Some(algorithm) = all.last_mut().filter(|_| self.has_algorithm) {
            if !is_one(algorithm) {
                algorithm.clear();
            }
        }
        let index = jain(goodputs.values().copied());
        give(&all, [Value::None, index.map_or(Value::None, Value::Float)]);
    }
}

/// Jain's fairness index (Jain, Chiu and Hawe, 1984), from 1/n to 1; none of values that are all zero.
fn jain(values: impl Iterator<Item = f64> + Clone) -> Option<f64> {
    let squares: f64 = values.clone().map(|value| value * value).sum();
    let sum: f64 = values.clone().sum();
    (squares > 0.0).then(|| sum * sum / (values.count() as f64 * squares))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two subflows of one connection at 3 and 1 Mbit/s beside another of 2: equal shares of 4 and 2 have (4 + 2)² / (2 · 20) = 0.9.
    #[test]
    fn subflows_of_a_time_are_added() {
        let columns = [
            "topology.queue",
            "algorithm",
            "backend",
            "seed",
            "kind",
            "time_s",
            "connection",
            "number",
            "subflow",
            "link",
            GOODPUT,
        ];
        let mut connections = Connections::new(&columns).unwrap();
        let expected = [
            "topology.queue",
            "algorithm",
            "backend",
            "seed",
            "time_s",
            "connection",
            "number",
            GOODPUT,
            FAIRNESS,
        ];
        assert_eq!(connections.columns(), expected);
        let texts = [
            "connection",
            "number",
            "topology.queue",
            "backend",
            "seed",
            "algorithm",
        ];
        assert_eq!(connections.wanted(), (texts.to_vec(), ["time_s", GOODPUT]));
        let mut rows = Vec::new();
        let mut keep = |row: &[Value<'_>]| {
            rows.push(
                row.iter()
                    .map(|value| super::super::text(*value))
                    .collect::<Vec<_>>()
                    .join(" "),
            )
        };
        for (name, time, goodput) in [
            ("a", 1.0, 3.0),
            ("a", 1.0, 1.0),
            ("b", 1.0, 2.0),
            ("a", 2.0, 0.0),
        ] {
            let mut row: Vec<Value<'_>> = [name, "1", "9", "sim", "7", "lia"]
                .map(Value::Text)
                .to_vec();
            row.extend([time, goodput].map(Value::Float));
            connections.add(&row, &mut keep);
        }
        connections.finish(&mut keep);
        let expected = [
            "a 1 9 sim 7 lia 1 4 ",
            "b 1 9 sim 7 lia 1 2 ",
            "all connections  9 sim 7 lia 1  0.9",
            "a 1 9 sim 7 lia 2 0 ",
            "all connections  9 sim 7 lia 2  ",
        ];
        assert_eq!(rows, expected);
        assert!(Connections::new(&["time_s", "link"]).is_err());
    }
}
