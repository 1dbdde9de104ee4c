//! Names of algorithms as arguments.

use clap::builder::{NonEmptyStringValueParser, PossibleValue, TypedValueParser};
use mpcc::Algorithm;

/// Parses the name of an algorithm. Accepts any name, because the loader and the scenario report an unknown name with the
/// nearest ones; lists the names of some algorithms in help texts and completions.
#[derive(Clone)]
pub struct AlgorithmName {
    listed: fn(&Algorithm) -> bool,
}

impl AlgorithmName {
    /// Lists all algorithms.
    pub fn any() -> Self {
        Self { listed: |_| true }
    }

    /// Lists the algorithms that `lisa kernel load` loads: all but Linux's own.
    pub fn loadable() -> Self {
        Self {
            listed: |algorithm| !algorithm.in_linux(),
        }
    }
}

impl TypedValueParser for AlgorithmName {
    type Value = String;

    fn parse_ref(
        &self,
        command: &clap::Command,
        argument: Option<&clap::Arg>,
        value: &std::ffi::OsStr,
    ) -> Result<String, clap::Error> {
        NonEmptyStringValueParser::new().parse_ref(command, argument, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let value = |a: Algorithm| PossibleValue::new(a.name()).help(a.about());
        Some(Box::new(Algorithm::all().filter(self.listed).map(value)))
    }
}
