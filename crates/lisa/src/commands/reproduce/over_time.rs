//! Figures over time: one run of each line of a figure, drawn as `lisa plot` draws time series. The runs are not in the store: each takes
//! some milliseconds, and its samples are needed for the drawing alone.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use reproduce::{Day, Figure, OverTime, Paper, Quantity, Report, Run, over_time};
use scenario::export::columns::Value;
use scenario::sample::SubflowSample;
use scenario::units;

use super::styles;
use crate::figure::samples::{Samples, Shared};
use crate::figure::size::Size;
use crate::figure::windows::Interval;
use crate::output::Failure;
use crate::runs::execute::{Executor, Job, Trace};
use crate::runs::progress::{self, Progress};

/// A figure over time with the endpoints of a day.
pub struct TimeFigure {
    /// Identifier of the paper.
    pub paper: String,
    /// Identifier of the figure.
    pub figure: String,
    /// Number of the day.
    pub day: usize,
    pub svg: String,
}

/// All figures over time of a report.
pub fn all(
    report: &Report<'_>,
    executor: &Executor,
    cancelled: &Arc<AtomicBool>,
) -> Result<Vec<TimeFigure>, Failure> {
    let mut all = Vec::new();
    for one in &report.papers {
        for result in &one.figures {
            let Some(what) = &result.figure.over_time else {
                continue;
            };
            let drawing = |day| Drawing {
                paper: one.paper,
                figure: result.figure,
                day,
                what,
            };
            let days: Vec<Drawing<'_>> = one.paper.days.iter().map(drawing).collect();
            let series = days.iter().map(|drawing| drawing.run(executor, cancelled));
            let series = series.collect::<Result<Vec<_>, _>>()?;
            let shared = shared(what, series.iter().flatten());
            for (number, (drawing, series)) in days.iter().zip(&series).enumerate() {
                all.push(TimeFigure {
                    paper: one.paper.id.clone(),
                    figure: result.figure.id.clone(),
                    day: number,
                    svg: drawing.drawn(series, &shared)?,
                });
            }
        }
    }
    Ok(all)
}

/// What the drawings of all days share.
fn shared<'a>(what: &OverTime, all: impl Iterator<Item = &'a Series> + Clone) -> Shared {
    let mut shared = Shared {
        styles: all
            .clone()
            .map(|one| (one.title.clone(), one.style))
            .collect(),
        ..Shared::default()
    };
    let is_drawn = |time: f64| time >= what.from && what.to.is_none_or(|to| time <= to);
    for (time, values) in all.flat_map(|series| &series.values) {
        if !is_drawn(*time) {
            continue;
        }
        shared.end = shared.end.max(*time);
        for (quantity, value) in what.quantities.iter().zip(values) {
            let Some(value) = *value else {
                continue;
            };
            let range = shared.ranges.entry(column(*quantity).into());
            let [least, most] = range.or_insert([value; 2]);
            (*least, *most) = (least.min(value), most.max(value));
        }
    }
    shared
}

/// What is drawn.
struct Drawing<'a> {
    paper: &'a Paper,
    figure: &'a Figure,
    day: &'a Day,
    what: &'a OverTime,
}

/// A line of the drawing: its values at the end of each interval, in the order of the quantities.
struct Series {
    title: String,
    style: usize,
    values: Vec<(f64, Vec<Option<f64>>)>,
}

impl Drawing<'_> {
    fn failed(&self, problem: impl std::fmt::Display) -> Failure {
        Failure::new(format!("{}: {problem}", self.figure.id))
    }

    /// Runs each line, and returns its values.
    fn run(
        &self,
        executor: &Executor,
        cancelled: &Arc<AtomicBool>,
    ) -> Result<Vec<Series>, Failure> {
        let sample =
            units::parse_time(&self.what.sample).map_err(|problem| self.failed(problem))?;
        let lines = over_time(self.paper, self.figure, self.day);
        let count = lines.len();
        let scenarios = (lines.iter())
            .map(|(_, run)| Ok(Arc::new(run.scenario()?)))
            .collect::<Result<Vec<_>, Failure>>()?;
        let runs: Vec<Run> = lines.iter().map(|(_, run)| run.clone()).collect();
        let job = move |number: usize| {
            Ok(Job {
                scenario: scenarios[number].clone(),
                about: format!("experiments/{}", runs[number].file).into(),
                seed: runs[number].seed,
                trace: Trace::None,
                sample: Some(sample),
            })
        };
        let series = RefCell::new(Vec::new());
        let progress = Progress::new(count).about("figures over time");
        let finished = executor.execute(count, job, cancelled, &progress, |number, run| {
            series
                .borrow_mut()
                .extend(self.series(lines[number].0, &run.samples.subflows));
            Ok(())
        })?;
        drop(progress);
        progress::ended(finished, count, "; the same command draws the figures")?;
        Ok(series.into_inner())
    }

    /// The lines of a run: of each connection, and of its subflows.
    fn series(&self, line: &str, samples: &[SubflowSample]) -> Vec<Series> {
        let mut all = Vec::new();
        for connection in &self.what.connections {
            let of: Vec<&SubflowSample> = (samples.iter())
                .filter(|one| *one.connection == **connection && one.number == 1)
                .collect();
            let title = match (self.what.connections.len(), self.figure.lines.len()) {
                (1, _) => line.to_owned(),
                (_, 1) => connection.clone(),
                _ => format!("{line}: {connection}"),
            };
            let numbers = of.iter().map(|one| one.subflow).max().unwrap_or(0);
            let whole = self.values(&of);
            if whole
                .iter()
                .any(|(_, values)| values.iter().any(Option::is_some))
            {
                all.push(Series {
                    title: title.clone(),
                    style: styles::over_time(self.figure, line, connection, 0),
                    values: whole,
                });
            }
            for subflow in 1..=numbers {
                let title = match numbers {
                    1 => title.clone(),
                    _ => format!("{title}, subflow {subflow}"),
                };
                let of: Vec<&SubflowSample> = (of.iter().copied())
                    .filter(|one| one.subflow == subflow)
                    .collect();
                let values = self.values_of_subflow(&of);
                let has = values
                    .iter()
                    .any(|(_, values)| values.iter().any(Option::is_some));
                match all.last_mut() {
                    // A connection with one subflow is one line.
                    Some(last) if has && last.title == title => {
                        for ((_, whole), (_, own)) in last.values.iter_mut().zip(values) {
                            for (whole, own) in whole.iter_mut().zip(own) {
                                *whole = whole.or(own);
                            }
                        }
                    }
                    _ if has => {
                        let number = usize::from(numbers > 1) * subflow as usize;
                        let style = styles::over_time(self.figure, line, connection, number);
                        all.push(Series {
                            title,
                            style,
                            values,
                        });
                    }
                    _ => {}
                }
            }
        }
        all
    }

    /// The quantities of a connection.
    fn values(&self, samples: &[&SubflowSample]) -> Vec<(f64, Vec<Option<f64>>)> {
        let mut retransmits = 0;
        // The samples of a subflow end with its own last segment.
        let mut windows = BTreeMap::new();
        let intervals = samples.chunk_by(|a, b| a.time_s.total_cmp(&b.time_s).is_eq());
        intervals
            .map(|subflows| {
                retransmits += subflows.iter().map(|one| one.retransmits).sum::<u64>();
                windows.extend(subflows.iter().map(|one| (one.subflow, one.cwnd_segments)));
                let value = |quantity: &Quantity| match quantity {
                    Quantity::SumOfWindows => Some(windows.values().sum::<u32>().into()),
                    Quantity::Retransmissions => Some(retransmits as f64),
                    Quantity::Rate => Some(subflows.iter().map(|one| one.goodput_mbps).sum()),
                    Quantity::Window | Quantity::Acknowledged | Quantity::SubflowRate => None,
                };
                let values = self.what.quantities.iter().map(value).collect();
                (subflows[0].time_s, values)
            })
            .collect()
    }

    /// The quantities of a subflow.
    fn values_of_subflow(&self, samples: &[&SubflowSample]) -> Vec<(f64, Vec<Option<f64>>)> {
        let (mut acknowledged, mut before) = (0.0, None);
        let interval = units::parse_time(&self.what.sample).map_or(0.0, |span| span.as_secs_f64());
        samples
            .iter()
            .map(|one| {
                // Mbit/s over an interval are 125 KB a second.
                let length = before.map_or(interval, |before| one.time_s - before);
                before = Some(one.time_s);
                acknowledged += one.goodput_mbps * length * 125.0;
                let value = |quantity: &Quantity| match quantity {
                    Quantity::Window => Some(f64::from(one.cwnd_segments)),
                    Quantity::Acknowledged => Some(acknowledged),
                    Quantity::SubflowRate => Some(one.goodput_mbps),
                    Quantity::SumOfWindows | Quantity::Retransmissions | Quantity::Rate => None,
                };
                (one.time_s, self.what.quantities.iter().map(value).collect())
            })
            .collect()
    }

    fn drawn(&self, series: &[Series], shared: &Shared) -> Result<String, Failure> {
        let quantities = &self.what.quantities;
        let mut columns = vec!["connection", "time_s"];
        columns.extend(quantities.iter().map(|quantity| column(*quantity)));
        let interval = Interval {
            from: self.what.from,
            to: self.what.to.unwrap_or(f64::INFINITY),
        };
        let failed = |problem: String| self.failed(problem);
        let chosen: Vec<String> = columns[2..].iter().map(|name| (*name).to_owned()).collect();
        let mut samples = Samples::new(&columns, &chosen, interval, &[]).map_err(failed)?;
        let rows: Vec<Vec<Value<'_>>> = (series.iter())
            .flat_map(|series| {
                series.values.iter().map(|(time, values)| {
                    let values = values.iter();
                    let values = values.map(|value| value.map_or(Value::None, Value::Float));
                    [Value::Text(&series.title), Value::Float(*time)]
                        .into_iter()
                        .chain(values)
                        .collect()
                })
            })
            .collect();
        for row in &rows {
            samples.weigh(row);
        }
        samples.choose();
        for row in &rows {
            samples.add(row);
        }
        let size = Size {
            height: 150 + 180 * quantities.len() as u32,
            ..styles::SIZE
        };
        let title = format!("{}: one run over time, {}", self.figure.id, self.day.name);
        let mut about = vec!["seed 1".to_owned()];
        about.extend(self.what.set.iter().cloned());
        samples
            .svg(&title, &about.join(", "), Some(size), shared)
            .map_err(failed)
    }
}

/// The column of a quantity.
fn column(quantity: Quantity) -> &'static str {
    match quantity {
        Quantity::Window => "cwnd_segments",
        Quantity::SumOfWindows => "sum_cwnd_segments",
        Quantity::Retransmissions => "retransmitted_segments",
        Quantity::Acknowledged => "acknowledged_kb",
        Quantity::Rate => "rate_mbps",
        Quantity::SubflowRate => "subflow_rate_mbps",
    }
}
