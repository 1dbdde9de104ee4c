//! Published results: the rows of `experiments/papers/published.csv`.

use serde::Deserialize;

use crate::Error;

/// Name of the file, for errors.
const FILE: &str = "experiments/papers/published.csv";

/// A published value or claim.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// Paper: a folder of `experiments/`.
    pub paper: String,
    /// Figure, table, `text` or `theory`.
    pub figure: String,
    /// Conditions under which it was found.
    pub condition: String,
    /// What was measured.
    pub metric: String,
    /// Algorithm, or what is compared with what.
    pub algorithm: String,
    /// A number, a range, or a word.
    pub value: String,
    /// Unit of a number.
    pub unit: String,
    /// Restrictions, in the paper's words.
    pub note: String,
}

/// What a paper expects of a measured quantity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Expected {
    /// This value.
    Number(f64),
    /// A value in this range.
    Range(f64, f64),
    /// Less than the other one at each point.
    Lower,
    /// More than the other one at each point.
    Higher,
    /// About the same at each point.
    Similar,
    /// More or about the same at each point.
    HigherOrSimilar,
    /// Neither less nor more over the whole range.
    NoTrend,
    /// The paper's value is not at hand.
    Unpublished,
}

impl Row {
    /// The rows of the file.
    pub(crate) fn read(text: &str) -> Result<Vec<Row>, Error> {
        let rows = csv::Reader::from_reader(text.as_bytes()).into_deserialize();
        let rows = rows.collect::<Result<Vec<Row>, csv::Error>>();
        rows.map_err(|error| Error::File {
            file: FILE.into(),
            problem: error.to_string(),
        })
    }

    /// The value of the row.
    pub fn expected(&self) -> Result<Expected, Error> {
        let value = self.value.trim();
        if let Ok(number) = value.parse() {
            return Ok(Expected::Number(number));
        }
        if let Some((from, to)) = value.split_once("..") {
            if let (Ok(from), Ok(to)) = (from.parse(), to.parse()) {
                return Ok(Expected::Range(from, to));
            }
        }
        match value {
            "lower" => Ok(Expected::Lower),
            "larger" => Ok(Expected::Higher),
            "similar" => Ok(Expected::Similar),
            "larger or similar" => Ok(Expected::HigherOrSimilar),
            "no clear trend" => Ok(Expected::NoTrend),
            _ => Err(Error::File {
                file: FILE.into(),
                problem: format!(
                    "{} {}, {}: `{value}` is neither a number, a range, nor one of lower, larger, similar, larger or similar, no clear trend",
                    self.paper, self.figure, self.metric
                ),
            }),
        }
    }
}
