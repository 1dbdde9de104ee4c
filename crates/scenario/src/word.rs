//! Words of results. They are few and known beforehand, so that no result owns them, also one that is read back.

use serde::{Deserialize, Deserializer, de};

use crate::outcome::SCHEMA;

/// One of the words that results are made of.
pub type Word = &'static str;

/// All: the schema, the backends, the phases of a window.
const WORDS: [Word; 7] = [
    SCHEMA,
    "sim",
    "host",
    "vm",
    "slow start",
    "avoidance",
    "recovery",
];

/// For `deserialize_with`.
pub(crate) fn read<'de, D: Deserializer<'de>>(from: D) -> Result<Word, D::Error> {
    let read = String::deserialize(from)?;
    let known = WORDS.into_iter().find(|word| *word == read);
    known.ok_or_else(|| de::Error::custom(format!("no result has the word `{read}`")))
}
