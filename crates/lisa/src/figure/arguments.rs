//! Arguments of all commands that draw.

use clap::Args;
use scenario::metrics::{self, Metric};
use scenario::units;

use super::results::{Kind, Options};
use super::size::{self, Size};
use super::windows::Interval;
use crate::output::Failure;
use crate::runs::metric_names;
use crate::values::Form;

/// The page of a figure.
#[derive(Args)]
pub struct Page {
    /// Size of the figure, in px, mm, cm, in or pt: `1200x600`, `16cmx9cm`, `7x4in` [default: 960 px wide, as high as needed].
    #[arg(long, value_name = "WIDTHxHEIGHT", value_parser = size::parser())]
    pub size: Option<Size>,
}

/// The time that a figure shows.
#[derive(Args)]
pub struct Time {
    /// Start of the time that the figure shows, such as `500ms`.
    #[arg(long, value_name = "TIME", value_parser = seconds())]
    pub from: Option<f64>,
    /// End of the time that the figure shows.
    #[arg(long, value_name = "TIME", value_parser = seconds())]
    pub to: Option<f64>,
}

/// The figure of runs.
#[derive(Args)]
pub struct Choice {
    /// Kind of the figure of runs [default: `lines` if one key varies, `heatmap` if two vary, `bars` for a key without numbers; if
    /// none varies `cdf` of ten seeds or more, else `bars`].
    #[arg(long, value_name = "KIND", value_enum)]
    pub kind: Option<Kind>,
    /// Metric of the figure, such as `goodput_mbps` or `links.utilisation` [default: of runs the completion time of transfers, else
    /// the goodput, of links the utilisation; of time series rates, queues, windows and RTTs].
    #[arg(long, value_name = "NAME", value_parser = metric_names::parser())]
    pub metric: Option<String>,
    /// Draw heat maps of the differences to the first algorithm, seed by seed.
    #[arg(long)]
    pub difference: bool,
}

/// A time of a run.
fn seconds() -> Form<f64> {
    let form = "a time, like `500ms`; units are ns, us, ms, s, min, h, d";
    Form::new(form, |text| match units::parse_time(text) {
        Ok(time) => Ok(time.as_nanos() as f64 / 1e9),
        Err(_) => Err(String::new()),
    })
}

impl Time {
    /// The interval; all of the run without arguments.
    pub fn interval(&self) -> Result<Interval, Failure> {
        let interval = Interval {
            from: self.from.unwrap_or(Interval::ALL.from),
            to: self.to.unwrap_or(Interval::ALL.to),
        };
        match interval.from < interval.to {
            true => Ok(interval),
            false => Err(Failure::usage(
                "--from and --to: the end is not after the start",
            )),
        }
    }

    fn is_given(&self) -> bool {
        self.from.is_some() || self.to.is_some()
    }
}

impl Choice {
    /// The options of a figure of runs.
    pub fn options(&self, page: &Page) -> Options {
        Options {
            kind: self.kind,
            difference: self.difference,
            size: page.size,
            range: None,
        }
    }

    /// The metric of `--metric`.
    pub fn metric(&self) -> Result<Option<&'static Metric>, Failure> {
        let Some(name) = &self.metric else {
            return Ok(None);
        };
        let metrics = metrics::choose(std::slice::from_ref(name));
        let metrics = metrics.map_err(|problem| Failure::usage(format!("--metric: {problem}")))?;
        Ok(metrics.first().copied())
    }
}

/// Checks that options of a figure are given with `--plot` alone.
pub fn check(
    is_drawn: bool,
    page: &Page,
    time: Option<&Time>,
    choice: Option<&Choice>,
) -> Result<(), Failure> {
    let option = match () {
        () if page.size.is_some() => "--size",
        () if time.is_some_and(Time::is_given) => "--from and --to",
        () if choice.is_some_and(|choice| choice.kind.is_some()) => "--kind",
        () if choice.is_some_and(|choice| choice.metric.is_some()) => "--metric",
        () if choice.is_some_and(|choice| choice.difference) => "--difference",
        () => return Ok(()),
    };
    match is_drawn {
        true => Ok(()),
        false => Err(Failure::usage(format!(
            "{option}: for a figure; add --plot FILE.svg"
        ))),
    }
}
