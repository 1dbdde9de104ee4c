//! Names of algorithms as arguments.

use clap::builder::{NonEmptyStringValueParser, PossibleValue, TypedValueParser};
use mpcc::Algorithm;

/// Takes any name, so that what is wrong with it is said elsewhere and in one way, and offers the known ones to help texts
/// and shells.
#[derive(Clone)]
pub struct Algorithms(fn(&Algorithm) -> bool);

impl Algorithms {
    /// Offers all.
    pub fn all() -> Self {
        Self(|_| true)
    }

    /// Offers those that the kernel can be given: it has the others.
    pub fn of_the_kernel() -> Self {
        Self(|algorithm| !algorithm.in_linux())
    }
}

impl TypedValueParser for Algorithms {
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
        Some(Box::new(Algorithm::all().filter(self.0).map(value)))
    }
}
