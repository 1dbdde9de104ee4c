//! What varies in a sweep, by its arguments.

use std::path::Path;

use scenario::study::sweep::{Clash, Design};
use scenario::vary::{self, Vary};

use super::arguments::Arguments;
use crate::output::Failure;

/// The varied keys with their values, and the algorithms.
pub fn design(arguments: &Arguments) -> Result<Design, Failure> {
    let mut design = Design {
        algorithms: arguments.algorithms.clone(),
        from_file: arguments.points.is_some(),
        ..Design::default()
    };
    for vary in arguments.points.as_deref().map_or(Ok(Vec::new()), read)? {
        let key = vary.key.clone();
        let wrong = |clash| Failure::usage(format!("--points: `{key}`: {}", problem(clash)));
        design.listed = Some(vary.values.len());
        design.vary(vary).map_err(wrong)?;
    }
    for text in &arguments.vary {
        let wrong = |problem: &str| Failure::usage(format!("--vary {text}: {problem}"));
        let key = design.varied.len() as u64;
        let vary = match random(arguments) {
            Some((points, of)) => Vary::draw(text, key, points, of),
            None => Vary::parse(text),
        };
        let vary = vary.map_err(|problem| wrong(&problem))?;
        design.vary(vary).map_err(|clash| wrong(problem(clash)))?;
    }
    if let Some((points, _)) = random(arguments) {
        design.listed = Some(points);
    }
    Ok(design)
}

/// The keys of `--points` with their values.
fn read(path: &Path) -> Result<Vec<Vary>, Failure> {
    let wrong = |problem| Failure::new(format!("--points {}: {problem}", path.display()));
    let file = ::files::open(path).map_err(|error| wrong(error.to_string()))?;
    vary::points(file).map_err(wrong)
}

/// The problem of a key beside those before it.
fn problem(clash: Clash) -> &'static str {
    match clash {
        Clash::Varied => "this key is varied already",
        Clash::Algorithms => "use this key or -a, not both",
    }
}

/// Number and choice of random points; none for all combinations.
fn random(arguments: &Arguments) -> Option<(usize, vary::Design)> {
    let uniform = arguments
        .random
        .map(|points| (points as usize, vary::Design::Uniform));
    let latin = arguments
        .latin
        .map(|points| (points as usize, vary::Design::Latin));
    uniform.or(latin)
}
