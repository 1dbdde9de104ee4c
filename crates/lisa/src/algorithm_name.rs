//! Names of algorithms as arguments.

use clap::builder::PossibleValue;
use mpcc::Algorithm;

use crate::values::{self, Form};

/// What `lisa kernel load` loads without a name, by the evidence of docs/which.md.
pub const RECOMMENDED: &str = "convoy";

/// Parses the name of an algorithm. Accepts any name, because the loader and the scenario report an unknown name with the
/// nearest ones; lists the names of all algorithms in help texts and completions.
pub fn any() -> Form<String> {
    parser().listing(|| possible(|_| true))
}

/// Lists the algorithms that `lisa kernel load` loads.
pub fn loadable() -> Form<String> {
    parser().listing(|| possible(|algorithm| algorithm.is_loadable()))
}

fn parser() -> Form<String> {
    values::text("the name of an algorithm, like lisa or lia: `lisa algorithms` lists them")
}

fn possible(listed: fn(&Algorithm) -> bool) -> Vec<PossibleValue> {
    let value = |a: Algorithm| PossibleValue::new(a.name()).help(a.about());
    Algorithm::all().filter(listed).map(value).collect()
}
