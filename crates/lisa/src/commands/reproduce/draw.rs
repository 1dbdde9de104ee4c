//! The figures of a report, drawn as `lisa plot` draws rows of runs.

use reproduce::{FigureResult, Paper, Report, Series, TODAY};
use scenario::export::columns::Value;

use super::over_time::TimeFigure;
use super::styles;
use crate::figure::results::{self, Data, Kind, Measured, Options};
use crate::output::Failure;
use crate::runs::on::On;

/// The days in names of files.
const DAYS: [&str; 2] = ["then", "now"];

/// A measure of a figure over its horizontal axis with the endpoints of a day, a line for each algorithm with its band of 95 %; beside today's
/// endpoints also those of the kernel. None of a table.
pub fn svg(
    paper: &Paper,
    result: &FigureResult<'_>,
    measure: usize,
    day: usize,
) -> Result<Option<String>, Failure> {
    let (Some(axis), Some(of)) = (&result.figure.x, result.figure.measures.get(measure)) else {
        return Ok(None);
    };
    let failed = |problem: String| Failure::new(format!("{}: {problem}", result.figure.id));
    let metric = Measured {
        field: of.name.clone(),
        title: of.label.clone(),
        unit: of.unit.clone(),
        decimals: 2,
    };
    let columns = [
        axis.label.as_str(),
        "algorithm",
        "backend",
        "seed",
        of.name.as_str(),
    ];
    let mut data = Data::new(&columns, metric).map_err(failed)?;
    add(&mut data, &result.days[day], measure, On::Sim);
    if let Some(series) = result.kernel.as_ref().filter(|_| day == TODAY) {
        add(&mut data, series, measure, On::Vm);
    }
    data.finish();
    data.restyle(|line, backend| styles::of_line(result.figure, line, backend));
    if data.places().next().is_none() {
        return Ok(None);
    }
    let options = Options {
        kind: Some(Kind::Lines),
        size: Some(styles::SIZE),
        range: range(result, measure),
        ..Options::default()
    };
    let title = format!(
        "{}: {}, {}",
        result.figure.id, of.label, paper.days[day].name
    );
    results::svg(&data, &title, options)
        .map(Some)
        .map_err(failed)
}

/// The least and the largest end of an interval of a measure on all days, and on the kernel.
fn range(result: &FigureResult<'_>, measure: usize) -> Option<[f64; 2]> {
    let all = result.days.iter().chain(&result.kernel);
    let means = all.flat_map(|series| {
        let points = 0..series.points.len();
        (series.lines.iter()).flat_map(move |line| {
            points
                .clone()
                .filter_map(move |point| line.mean(measure, point))
        })
    });
    let ends = means.map(|mean| {
        let half = mean.ci95.unwrap_or(0.0);
        [(mean.mean - half).max(mean.mean.min(0.0)), mean.mean + half]
    });
    ends.reduce(|[least, most], [low, high]| [least.min(low), most.max(high)])
}

/// Adds the values of a measure. The kernel's have no predictions.
fn add(data: &mut Data, series: &Series, measure: usize, on: On) {
    for line in &series.lines {
        if on != On::Sim && line.is_theory {
            continue;
        }
        for (point, samples) in series.points.iter().zip(&line.measures[measure]) {
            for (seed, value) in samples.iter().enumerate() {
                data.add(&[
                    Value::Float(point.x.unwrap_or_default()),
                    Value::Text(&line.name),
                    Value::Text(on.name()),
                    Value::Integer(seed as i64),
                    value.map_or(Value::None, Value::Float),
                ]);
            }
        }
    }
}

/// The figures as files: `PAPER-FIGURE-MEASURE-DAY.svg`, over time `PAPER-FIGURE-time-DAY.svg`.
pub fn files(
    report: &Report<'_>,
    over_time: &[TimeFigure],
) -> Result<Vec<(String, String)>, Failure> {
    let mut files: Vec<(String, String)> = (over_time.iter())
        .map(|one| {
            let day = DAYS[one.day];
            let name = format!("{}-{}-time-{day}.svg", one.paper, one.figure);
            (name, one.svg.clone())
        })
        .collect();
    for paper in &report.papers {
        for figure in &paper.figures {
            for (measure, of) in figure.figure.measures.iter().enumerate() {
                for (number, day) in DAYS.into_iter().enumerate() {
                    if let Some(svg) = svg(paper.paper, figure, measure, number)? {
                        let name = of.name.to_lowercase().replace(' ', "-");
                        files.push((
                            format!("{}-{}-{name}-{day}.svg", paper.paper.id, figure.figure.id),
                            svg,
                        ));
                    }
                }
            }
        }
    }
    Ok(files)
}
