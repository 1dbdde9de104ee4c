//! A table that is written to a file row by row: Apache Parquet, or CSV with a heading.
//!
//! Parquet files have no index and no time of writing in them: the same rows make the same bytes.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical};
use parquet::column::writer::ColumnWriter;
use parquet::data_type::ByteArray;
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::Type;

/// How many rows wait in memory until Parquet gets them; readers work on as many at once.
const ROWS: usize = 1 << 17;

/// A kind of file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Apache Parquet, compressed with Snappy.
    Parquet,
    /// Comma-separated values (RFC 4180); what is not there is empty.
    Csv,
}

impl Format {
    /// By a file's name.
    #[must_use]
    pub fn of(path: &Path) -> Option<Self> {
        let extension = path.extension()?.to_str()?.to_ascii_lowercase();
        [Self::Parquet, Self::Csv]
            .into_iter()
            .find(|format| format.extension() == extension)
    }

    /// What a file's name ends with.
    #[must_use]
    pub fn extension(self) -> &'static str {
        match self {
            Self::Parquet => "parquet",
            Self::Csv => "csv",
        }
    }
}

/// What a column holds. Any value may be missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// 64 bits with a sign.
    Integer,
    /// 64 bits.
    Float,
    /// UTF-8.
    Text,
}

/// A value of a row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value<'a> {
    /// Not there.
    None,
    /// For [`Kind::Integer`].
    Integer(i64),
    /// For [`Kind::Float`].
    Float(f64),
    /// For [`Kind::Text`].
    Text(&'a str),
}

impl From<Option<f64>> for Value<'_> {
    fn from(value: Option<f64>) -> Self {
        value.map_or(Self::None, Self::Float)
    }
}

impl From<Option<u32>> for Value<'_> {
    fn from(value: Option<u32>) -> Self {
        value.map_or(Self::None, |value| Self::Integer(value.into()))
    }
}

/// A file to which rows are written. Without [`Table::finish`] a CSV file lacks the last rows, and a Parquet file
/// cannot be read.
pub struct Table {
    path: PathBuf,
    to: To,
}

enum To {
    Csv(Box<csv::Writer<File>>),
    Parquet {
        writer: Box<SerializedFileWriter<BufWriter<File>>>,
        columns: Vec<Column>,
        rows: usize,
    },
}

/// Values that wait, and for each row whether there is one.
struct Column {
    values: Values,
    there: Vec<i16>,
}

enum Values {
    Integers(Vec<i64>),
    Floats(Vec<f64>),
    Texts(Vec<ByteArray>),
}

impl Table {
    /// A new file with these columns, in place of one that may be there.
    ///
    /// # Errors
    /// As all of these: with the file's name.
    pub fn create(path: &Path, format: Format, columns: &[(&str, Kind)]) -> io::Result<Self> {
        let named = |error| at(path, error);
        let file = File::create(path).map_err(named)?;
        let to = match format {
            Format::Csv => {
                let mut writer = csv::Writer::from_writer(file);
                let heading = columns.iter().map(|(name, _)| name);
                writer
                    .write_record(heading)
                    .map_err(|error| named(error.into()))?;
                To::Csv(Box::new(writer))
            }
            Format::Parquet => To::Parquet {
                writer: Box::new(open(file, columns).map_err(|error| named(error.into()))?),
                columns: columns.iter().map(|(_, kind)| Column::new(*kind)).collect(),
                rows: 0,
            },
        };
        Ok(Self {
            path: path.into(),
            to,
        })
    }

    /// Adds a row: a value of its kind for each column.
    ///
    /// # Panics
    /// If a value is of another kind.
    pub fn row(&mut self, row: &[Value<'_>]) -> io::Result<()> {
        let done = match &mut self.to {
            To::Csv(writer) => {
                let text = |value: &Value<'_>| match value {
                    Value::None => String::new(),
                    Value::Integer(value) => value.to_string(),
                    Value::Float(value) => value.to_string(),
                    Value::Text(value) => (*value).into(),
                };
                writer
                    .write_record(row.iter().map(text))
                    .map_err(io::Error::from)
            }
            To::Parquet {
                writer,
                columns,
                rows,
            } => {
                assert_eq!(columns.len(), row.len(), "a value for each column");
                for (column, value) in columns.iter_mut().zip(row) {
                    column.push(*value);
                }
                *rows += 1;
                match *rows % ROWS {
                    0 => write_group(writer, columns).map_err(io::Error::from),
                    _ => Ok(()),
                }
            }
        };
        done.map_err(|error| at(&self.path, error))
    }

    /// Lets others see what has been written, as far as the format can.
    pub fn flush(&mut self) -> io::Result<()> {
        match &mut self.to {
            To::Csv(writer) => writer.flush().map_err(|error| at(&self.path, error)),
            To::Parquet { .. } => Ok(()),
        }
    }

    /// Writes what is left.
    pub fn finish(mut self) -> io::Result<()> {
        self.flush()?;
        let To::Parquet {
            mut writer,
            mut columns,
            ..
        } = self.to
        else {
            return Ok(());
        };
        let mut finish = || {
            if !columns[0].there.is_empty() {
                write_group(&mut writer, &mut columns)?;
            }
            writer.finish()?;
            writer.inner_mut().flush()?;
            Ok(())
        };
        finish().map_err(|error: ParquetError| at(&self.path, error.into()))
    }
}

/// With the file's name before it.
fn at(path: &Path, error: io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

fn open(
    file: File,
    columns: &[(&str, Kind)],
) -> Result<SerializedFileWriter<BufWriter<File>>, ParquetError> {
    let field = |(name, kind): &(&str, Kind)| {
        let (physical, logical) = match kind {
            Kind::Integer => (Physical::INT64, None),
            Kind::Float => (Physical::DOUBLE, None),
            Kind::Text => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
        };
        let field = Type::primitive_type_builder(name, physical)
            .with_repetition(Repetition::OPTIONAL)
            .with_logical_type(logical);
        field.build().map(Arc::new)
    };
    let fields = columns.iter().map(field).collect::<Result<_, _>>()?;
    let schema = Type::group_type_builder("schema")
        .with_fields(fields)
        .build()?;
    let properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_created_by(concat!("lisa ", env!("CARGO_PKG_VERSION")).into())
        .build();
    SerializedFileWriter::new(BufWriter::new(file), Arc::new(schema), Arc::new(properties))
}

fn write_group<W: Write + Send>(
    writer: &mut SerializedFileWriter<W>,
    columns: &mut [Column],
) -> Result<(), ParquetError> {
    let mut group = writer.next_row_group()?;
    for column in columns {
        let mut to = group
            .next_column()?
            .expect("as many columns as the schema has");
        let there = Some(&column.there[..]);
        match (to.untyped(), &mut column.values) {
            (ColumnWriter::Int64ColumnWriter(to), Values::Integers(values)) => {
                to.write_batch(values, there, None)?;
                values.clear();
            }
            (ColumnWriter::DoubleColumnWriter(to), Values::Floats(values)) => {
                to.write_batch(values, there, None)?;
                values.clear();
            }
            (ColumnWriter::ByteArrayColumnWriter(to), Values::Texts(values)) => {
                to.write_batch(values, there, None)?;
                values.clear();
            }
            _ => unreachable!("the schema is made of the columns' kinds"),
        }
        column.there.clear();
        to.close()?;
    }
    group.close()?;
    Ok(())
}

impl Column {
    fn new(kind: Kind) -> Self {
        let values = match kind {
            Kind::Integer => Values::Integers(Vec::new()),
            Kind::Float => Values::Floats(Vec::new()),
            Kind::Text => Values::Texts(Vec::new()),
        };
        Self {
            values,
            there: Vec::new(),
        }
    }

    fn push(&mut self, value: Value<'_>) {
        match (&mut self.values, value) {
            (_, Value::None) => {}
            (Values::Integers(values), Value::Integer(value)) => values.push(value),
            (Values::Floats(values), Value::Float(value)) => values.push(value),
            (Values::Texts(values), Value::Text(value)) => {
                // The same name stands in row after row: it is kept once.
                let again = values.last().filter(|last| last.data() == value.as_bytes());
                let value = again.cloned().unwrap_or_else(|| value.into());
                values.push(value);
            }
            _ => panic!("{value:?} is not of its column's kind"),
        }
        self.there.push((value != Value::None).into());
    }
}

#[cfg(test)]
#[path = "columns_tests.rs"]
mod tests;
