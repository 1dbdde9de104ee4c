//! The figures of a report, drawn as `lisa plot` draws rows of runs.

use reproduce::{FigureResult, Report, Series};
use scenario::export::columns::Value;

use crate::figure::results::{self, Data, Kind, Measured, Options};
use crate::figure::size::Size;
use crate::output::Failure;

/// Size of a figure: two stand side by side on a page.
const SIZE: Size = Size {
    width: 620,
    height: 380,
};

/// A measure of a figure over its horizontal axis, a line for each algorithm with its band of 95 %. None of a table.
pub fn svg(
    result: &FigureResult<'_>,
    measure: usize,
    day: &str,
    series: &Series,
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
    for line in &series.lines {
        for (point, samples) in series.points.iter().zip(&line.measures[measure]) {
            for (seed, value) in samples.iter().enumerate() {
                data.add(&[
                    Value::Float(point.x.unwrap_or_default()),
                    Value::Text(&line.name),
                    Value::Text("sim"),
                    Value::Integer(seed as i64),
                    value.map_or(Value::None, Value::Float),
                ]);
            }
        }
    }
    data.finish();
    if data.places().next().is_none() {
        return Ok(None);
    }
    let options = Options {
        kind: Some(Kind::Lines),
        size: Some(SIZE),
        ..Options::default()
    };
    let title = format!("{}, {day}", result.figure.title);
    results::svg(&data, &title, options)
        .map(Some)
        .map_err(failed)
}

/// The figures as files: `PAPER-FIGURE-MEASURE-DAY.svg`.
pub fn files(report: &Report<'_>) -> Result<Vec<(String, String)>, Failure> {
    let mut files = Vec::new();
    for paper in &report.papers {
        for figure in &paper.figures {
            for (measure, of) in figure.figure.measures.iter().enumerate() {
                for (number, series) in figure.days.iter().enumerate() {
                    let day = ["then", "now"].get(number).copied().unwrap_or("day");
                    if let Some(svg) = svg(figure, measure, &paper.paper.days[number].name, series)?
                    {
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
