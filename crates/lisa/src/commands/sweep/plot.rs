//! The figure of `lisa sweep`.

use std::path::PathBuf;

use scenario::Outcome;
use scenario::export::rows::Identity;
use scenario::metrics::{self, Metric};
use scenario::vary::Vary;

use super::Arguments;
use crate::figure::arguments as figure_arguments;
use crate::figure::drawing::Drawing;
use crate::figure::results::{self, Feed, Options};
use crate::output::Failure;
use crate::runs::{files, rows_file};

/// Metrics that are tried without `--metric`: the completion time has no value if connections are endless.
const STANDARD: [&str; 2] = ["completion_s", "goodput_mbps"];

/// The figure of `--plot`, which grows with each run; nothing without `--plot`.
pub struct Figure {
    path: Option<PathBuf>,
    options: Options,
    /// The metric of `--metric`, or the metrics that are tried.
    metrics: Vec<&'static Metric>,
    feeds: Vec<Feed>,
}

impl Figure {
    /// Checks the arguments. `metrics` are those of the table.
    pub fn new(arguments: &Arguments, metrics: &[&'static Metric]) -> Result<Self, Failure> {
        let choice = &arguments.choice;
        figure_arguments::check(
            arguments.plot.is_some(),
            &arguments.page,
            None,
            Some(choice),
        )?;
        let metrics = match (choice.metric()?, arguments.metrics.names.is_empty()) {
            (Some(metric), _) => vec![metric],
            (None, true) => {
                let standard = |name: &&str| metrics::all().find(|metric| metric.key == *name);
                STANDARD.iter().filter_map(standard).collect()
            }
            (None, false) => metrics.to_vec(),
        };
        Ok(Self {
            path: arguments.plot.clone(),
            options: choice.options(&arguments.page),
            metrics,
            feeds: Vec::new(),
        })
    }

    /// Checks the file, before the first run.
    pub fn open(&mut self, arguments: &Arguments, varied: &[Vary]) -> Result<(), Failure> {
        let Some(path) = &self.path else {
            return Ok(());
        };
        let may_replace = arguments.common.force || arguments.resume;
        files::check("--plot", path, may_replace)?;
        let mut settings = rows_file::fixed(&arguments.common.set, varied);
        settings.extend(varied.iter().cloned());
        self.feeds = self
            .metrics
            .iter()
            .filter_map(|metric| Feed::new(&settings, metric))
            .collect();
        Ok(())
    }

    /// Adds a run.
    pub fn add(&mut self, identity: Identity<'_>, outcome: &Outcome) {
        for feed in &mut self.feeds {
            feed.add(identity, outcome);
        }
    }

    /// Draws the first metric with a value.
    pub fn write(&mut self, title: &str) -> Result<(), Failure> {
        let Some(path) = &self.path else {
            return Ok(());
        };
        let mut data: Vec<_> = self.feeds.drain(..).map(Feed::finish).collect();
        let number = data.iter().position(|data| data.places().next().is_some());
        if data.is_empty() {
            let problem = "--plot: no rows have the metric: choose another --metric";
            return Err(Failure::usage(problem));
        }
        let data = data.swap_remove(number.unwrap_or(0));
        let svg = results::svg(&data, title, self.options);
        let svg = svg.map_err(|problem| Failure::new(format!("--plot: {problem}")))?;
        Drawing::open("--plot", path)?.write(&svg)
    }
}
