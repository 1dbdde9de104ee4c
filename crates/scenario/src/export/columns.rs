//! Tables in files, written row by row: Apache Parquet, or CSV with a heading.
//!
//! The Parquet files contain no index and no time stamp: equal rows make equal bytes.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use files::NewFile;
use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical};
use parquet::column::writer::ColumnWriter;
use parquet::data_type::ByteArray;
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::Type;

/// Number of rows of a row group: the rows that are held in memory, here and in readers.
const ROWS_PER_GROUP: usize = 1 << 17;

/// Format of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Apache Parquet, compressed with Snappy.
    Parquet,
    /// Comma-separated values (RFC 4180); a missing value is empty.
    Csv,
}

impl Format {
    /// The format by a file's extension.
    #[must_use]
    pub fn of(path: &Path) -> Option<Self> {
        let extension = path.extension()?.to_str()?.to_ascii_lowercase();
        [Self::Parquet, Self::Csv]
            .into_iter()
            .find(|format| format.extension() == extension)
    }

    /// Extension of a file.
    #[must_use]
    pub fn extension(self) -> &'static str {
        match self {
            Self::Parquet => "parquet",
            Self::Csv => "csv",
        }
    }
}

/// Type of a column. Any value may be missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// 64 bits, signed.
    Integer,
    /// 64 bits, IEEE 754.
    Float,
    /// UTF-8.
    Text,
}

/// A value of a row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value<'a> {
    /// Missing.
    None,
    /// A value of [`Kind::Integer`].
    Integer(i64),
    /// A value of [`Kind::Float`].
    Float(f64),
    /// A value of [`Kind::Text`].
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

/// A key and a value in the metadata of a Parquet file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Property {
    /// Key, such as `lisa.version`.
    pub key: &'static str,
    /// Value, a text.
    pub value: String,
}

/// A file of rows, which has its name after [`Table::finish`].
pub struct Table {
    path: PathBuf,
    sink: Sink,
}

enum Sink {
    Csv(Box<csv::Writer<NewFile>>),
    Parquet {
        writer: Box<SerializedFileWriter<NewFile>>,
        columns: Vec<Column>,
        rows: usize,
    },
}

/// Buffered values of a column.
struct Column {
    values: Values,
    /// Definition level of each row: 1 with a value, 0 without.
    levels: Vec<i16>,
}

enum Values {
    Integers(Vec<i64>),
    Floats(Vec<f64>),
    Texts(Vec<ByteArray>),
}

impl Table {
    /// Creates or replaces a file with these columns.
    ///
    /// # Errors
    /// Errors of all methods begin with the file's name.
    pub fn create(path: &Path, format: Format, columns: &[(&str, Kind)]) -> io::Result<Self> {
        let named = |error| with_path(path, error);
        let file = NewFile::create(path).map_err(named)?;
        let sink = match format {
            Format::Csv => {
                let mut writer = csv::Writer::from_writer(file);
                let heading = columns.iter().map(|(name, _)| name);
                writer
                    .write_record(heading)
                    .map_err(|error| named(error.into()))?;
                Sink::Csv(Box::new(writer))
            }
            Format::Parquet => Sink::Parquet {
                writer: Box::new(open(file, columns).map_err(|error| named(of_file(error)))?),
                columns: columns.iter().map(|(_, kind)| Column::new(*kind)).collect(),
                rows: 0,
            },
        };
        Ok(Self {
            path: path.into(),
            sink,
        })
    }

    /// Adds a row: a value for each column.
    ///
    /// # Panics
    /// For a value that is not of its column's kind.
    pub fn row(&mut self, row: &[Value<'_>]) -> io::Result<()> {
        let done = match &mut self.sink {
            Sink::Csv(writer) => {
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
            Sink::Parquet {
                writer,
                columns,
                rows,
            } => {
                assert_eq!(columns.len(), row.len(), "a value for each column");
                for (column, value) in columns.iter_mut().zip(row) {
                    column.push(*value);
                }
                *rows += 1;
                match *rows % ROWS_PER_GROUP {
                    0 => write_group(writer, columns).map_err(of_file),
                    _ => Ok(()),
                }
            }
        };
        done.map_err(|error| with_path(&self.path, error))
    }

    /// Adds metadata to a Parquet file. CSV has no place for metadata.
    pub fn describe(&mut self, properties: &[Property]) {
        if let Sink::Parquet { writer, .. } = &mut self.sink {
            for Property { key, value } in properties {
                let pair = KeyValue::new((*key).into(), value.clone());
                writer.append_key_value_metadata(pair);
            }
        }
    }

    /// Writes the remaining rows and closes the file.
    pub fn finish(self) -> io::Result<()> {
        let finished = match self.sink {
            Sink::Csv(writer) => writer
                .into_inner()
                .map_err(csv::IntoInnerError::into_error)
                .and_then(NewFile::finish),
            Sink::Parquet {
                writer, columns, ..
            } => finish(*writer, columns).map_err(of_file),
        };
        finished.map_err(|error| with_path(&self.path, error))
    }
}

/// The error with the file's name.
pub(super) fn with_path(path: &Path, error: io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

fn open(
    file: NewFile,
    columns: &[(&str, Kind)],
) -> Result<SerializedFileWriter<NewFile>, ParquetError> {
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
    SerializedFileWriter::new(file, Arc::new(schema), Arc::new(properties))
}

fn finish(
    mut writer: SerializedFileWriter<NewFile>,
    mut columns: Vec<Column>,
) -> Result<(), ParquetError> {
    if !columns[0].levels.is_empty() {
        write_group(&mut writer, &mut columns)?;
    }
    Ok(writer.into_inner()?.finish()?)
}

/// The error of the file, which the library of Parquet wraps.
fn of_file(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(error) => match error.downcast::<io::Error>() {
            Ok(error) => *error,
            Err(error) => io::Error::other(error),
        },
        error => io::Error::other(error),
    }
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
        let levels = Some(&column.levels[..]);
        match (to.untyped(), &mut column.values) {
            (ColumnWriter::Int64ColumnWriter(to), Values::Integers(values)) => {
                to.write_batch(values, levels, None)?;
                values.clear();
            }
            (ColumnWriter::DoubleColumnWriter(to), Values::Floats(values)) => {
                to.write_batch(values, levels, None)?;
                values.clear();
            }
            (ColumnWriter::ByteArrayColumnWriter(to), Values::Texts(values)) => {
                to.write_batch(values, levels, None)?;
                values.clear();
            }
            _ => unreachable!("the schema has the columns' kinds"),
        }
        column.levels.clear();
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
            levels: Vec::new(),
        }
    }

    fn push(&mut self, value: Value<'_>) {
        match (&mut self.values, value) {
            (_, Value::None) => {}
            (Values::Integers(values), Value::Integer(value)) => values.push(value),
            (Values::Floats(values), Value::Float(value)) => values.push(value),
            (Values::Texts(values), Value::Text(value)) => {
                // Successive rows often have the same text: they share one copy.
                let same = values.last().filter(|last| last.data() == value.as_bytes());
                let value = same.cloned().unwrap_or_else(|| value.into());
                values.push(value);
            }
            _ => panic!("{value:?} is not of its column's kind"),
        }
        self.levels.push((value != Value::None).into());
    }
}

#[cfg(test)]
#[path = "columns_tests.rs"]
mod tests;
