//! Results with other settings of parameters that a paper does not state.

use crate::assess::Assessment;
use crate::paper::{Parameter, Setting};
use crate::rule::Verdict;

/// A setting of a parameter.
#[derive(Clone, Copy, Debug)]
pub struct Choice<'a> {
    /// The parameter.
    pub parameter: &'a Parameter,
    /// The setting.
    pub setting: &'a Setting,
}

impl Choice<'_> {
    pub(crate) fn name(&self) -> String {
        format!("{}: {}", self.parameter.title, self.setting.name)
    }
}

/// Result with another setting of a parameter, or of two.
#[derive(Clone, Debug)]
pub struct Tried<'a> {
    /// The settings.
    pub choices: Vec<Choice<'a>>,
    /// The result.
    pub assessment: Assessment,
}

impl Tried<'_> {
    /// Parameters and settings in words.
    #[must_use]
    pub fn name(&self) -> String {
        let names: Vec<String> = self.choices.iter().map(Choice::name).collect();
        names.join(", and ")
    }

    /// What the paper states otherwise, if a setting contradicts it.
    #[must_use]
    pub fn contradicts(&self) -> Option<&str> {
        let mut choices = self.choices.iter();
        choices.find_map(|choice| choice.setting.contradicts.as_deref())
    }

    /// Whether the published value or sign comes out.
    #[must_use]
    pub fn restores(&self) -> bool {
        self.contradicts().is_none() && self.assessment.verdict == Verdict::Confirmed
    }

    pub(crate) fn explains(&self) -> bool {
        self.restores() && self.assessment.is_of_several()
    }

    pub(crate) fn has(&self, choices: &[Choice<'_>]) -> bool {
        let names =
            |choices: &[Choice<'_>]| -> Vec<String> { choices.iter().map(Choice::name).collect() };
        names(&self.choices) == names(choices)
    }
}
