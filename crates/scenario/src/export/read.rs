//! Tables in files, read row by row: Apache Parquet, or CSV with a heading ([`Table`](super::columns::Table) writes them).
//!
//! Only the wanted columns are read, a batch of rows at a time, so that memory does not grow with the file.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use parquet::column::reader::ColumnReader;
use parquet::data_type::ByteArray;
use parquet::file::reader::{FileReader, SerializedFileReader};

use super::columns::{Format, Value, with_path};

/// Number of rows that are read together.
const BATCH: usize = 8192;

/// Type of the values of a wanted column. Parquet has types of its own; CSV has text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Want {
    /// A number, or missing.
    Number,
    /// Text.
    Text,
    /// A number if the text is one.
    Any,
}

/// A file of rows.
pub struct Reader {
    path: PathBuf,
    columns: Vec<String>,
    /// Metadata of a Parquet file, by key.
    properties: BTreeMap<String, String>,
    source: Source,
}

enum Source {
    Parquet(Box<SerializedFileReader<File>>),
    Csv,
}

fn invalid(text: impl Into<String>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, text.into())
}

impl Reader {
    /// Opens a file, whose extension is that of a [`Format`].
    ///
    /// # Errors
    /// Errors of all methods begin with the file's name.
    pub fn open(path: &Path) -> io::Result<Self> {
        Self::opened(path).map_err(|error| with_path(path, error))
    }

    fn opened(path: &Path) -> io::Result<Self> {
        let format = Format::of(path)
            .ok_or_else(|| invalid("the name of a table ends with .parquet or .csv"))?;
        let file = files::open(path)?;
        let (columns, properties, source) = match format {
            Format::Parquet => {
                let reader = SerializedFileReader::new(file)
                    .map_err(|error| invalid(format!("no Parquet file: {error}")))?;
                let metadata = reader.metadata().file_metadata();
                let fields = metadata.schema_descr().columns().iter();
                let columns = fields.map(|column| column.path().string()).collect();
                let pairs = metadata.key_value_metadata().into_iter().flatten();
                let properties = pairs
                    .filter_map(|pair| Some((pair.key.clone(), pair.value.clone()?)))
                    .collect();
                (columns, properties, Source::Parquet(Box::new(reader)))
            }
            Format::Csv => {
                let mut reader = csv::Reader::from_reader(file);
                let heading = reader.headers().map_err(csv_error)?;
                let clean = |name: &str| name.trim_start_matches('\u{feff}').trim().to_owned();
                let columns = heading.iter().map(clean).collect();
                (columns, BTreeMap::new(), Source::Csv)
            }
        };
        Ok(Self {
            path: path.into(),
            columns,
            properties,
            source,
        })
    }

    /// Names of the columns.
    #[must_use]
    pub fn columns(&self) -> Vec<&str> {
        self.columns.iter().map(String::as_str).collect()
    }

    /// Metadata of a Parquet file.
    #[must_use]
    pub fn property(&self, key: &str) -> Option<&str> {
        self.properties.get(key).map(String::as_str)
    }

    /// Passes the values of the wanted columns of each row to `add`.
    pub fn each(
        &self,
        wanted: &[(&str, Want)],
        mut add: impl FnMut(&[Value<'_>]),
    ) -> io::Result<()> {
        let indexes = wanted.iter().map(|(name, _)| {
            let index = self.columns.iter().position(|column| column == name);
            index.ok_or_else(|| invalid(format!("no column `{name}`")))
        });
        let indexes = indexes.collect::<io::Result<Vec<usize>>>();
        let read = indexes.and_then(|indexes| match &self.source {
            Source::Parquet(reader) => {
                let names: Vec<&str> = wanted.iter().map(|(name, _)| *name).collect();
                parquet_rows(reader, &indexes, &names, &mut add)
            }
            Source::Csv => {
                let wanted: Vec<Want> = wanted.iter().map(|(_, want)| *want).collect();
                csv_rows(&self.path, &indexes, &wanted, &mut add)
            }
        });
        read.map_err(|error| with_path(&self.path, error))
    }
}

fn csv_error(error: csv::Error) -> io::Error {
    match error.kind() {
        csv::ErrorKind::Io(_) => error.into(),
        _ => invalid(format!("no CSV table: {error}")),
    }
}

fn csv_rows(
    path: &Path,
    indexes: &[usize],
    wanted: &[Want],
    add: &mut impl FnMut(&[Value<'_>]),
) -> io::Result<()> {
    let mut reader = csv::Reader::from_path(path).map_err(csv_error)?;
    let mut record = csv::StringRecord::new();
    while reader.read_record(&mut record).map_err(csv_error)? {
        let value = |(index, want): (&usize, &Want)| {
            let text = record.get(*index).unwrap_or("");
            Ok(match (want, text.parse::<f64>()) {
                _ if text.is_empty() => Value::None,
                (Want::Text, _) => Value::Text(text),
                (_, Ok(number)) => Value::Float(number),
                (Want::Any, Err(_)) => Value::Text(text),
                (Want::Number, Err(_)) => {
                    let line = record.position().map_or(0, csv::Position::line);
                    return Err(invalid(format!("line {line}: `{text}` is not a number")));
                }
            })
        };
        let row = indexes.iter().zip(wanted).map(value);
        add(&row.collect::<io::Result<Vec<Value<'_>>>>()?);
    }
    Ok(())
}

/// The values of a column in a batch of rows.
enum Values {
    Integers(Vec<i64>),
    Floats(Vec<f64>),
    Texts(Vec<ByteArray>),
}

/// A column of a group of rows.
struct Column<'a> {
    name: &'a str,
    reader: ColumnReader,
    /// Definition level of a row with a value.
    most: i16,
    levels: Vec<i16>,
    values: Values,
    /// Next value of `values`.
    next: usize,
}

fn parquet_rows(
    reader: &SerializedFileReader<File>,
    indexes: &[usize],
    names: &[&str],
    add: &mut impl FnMut(&[Value<'_>]),
) -> io::Result<()> {
    let wrong = |error: parquet::errors::ParquetError| invalid(error.to_string());
    for group in 0..reader.num_row_groups() {
        let group = reader.get_row_group(group).map_err(wrong)?;
        let mut columns = Vec::new();
        for (index, name) in indexes.iter().zip(names) {
            let description = group.metadata().column(*index).column_descr();
            if description.max_rep_level() > 0 || description.max_def_level() > 1 {
                return Err(invalid(format!("column `{name}` has lists")));
            }
            let most = description.max_def_level();
            let reader = group.get_column_reader(*index).map_err(wrong)?;
            columns.push(Column {
                name,
                reader,
                most,
                levels: Vec::new(),
                values: Values::Integers(Vec::new()),
                next: 0,
            });
        }
        let rows = group.metadata().num_rows().max(0) as usize;
        let mut done = 0;
        while done < rows {
            let batch = BATCH.min(rows - done);
            for column in &mut columns {
                column.read(batch)?;
            }
            for row in 0..batch {
                let values = columns.iter_mut().map(|column| column.value(row));
                add(&values.collect::<io::Result<Vec<Value<'_>>>>()?);
            }
            done += batch;
        }
    }
    Ok(())
}

impl Column<'_> {
    /// Reads the values of this number of rows.
    fn read(&mut self, rows: usize) -> io::Result<()> {
        let name = self.name;
        let wrong =
            |error: parquet::errors::ParquetError| invalid(format!("column `{name}`: {error}"));
        self.levels.clear();
        self.next = 0;
        let levels = (self.most > 0).then_some(&mut self.levels);
        let (read, values) = match &mut self.reader {
            ColumnReader::Int64ColumnReader(from) => {
                let mut values = Vec::with_capacity(rows);
                let read = from
                    .read_records(rows, levels, None, &mut values)
                    .map_err(wrong)?;
                (read.0, Values::Integers(values))
            }
            ColumnReader::Int32ColumnReader(from) => {
                let mut values = Vec::with_capacity(rows);
                let read = from
                    .read_records(rows, levels, None, &mut values)
                    .map_err(wrong)?;
                let values = values.into_iter().map(i64::from).collect();
                (read.0, Values::Integers(values))
            }
            ColumnReader::DoubleColumnReader(from) => {
                let mut values = Vec::with_capacity(rows);
                let read = from
                    .read_records(rows, levels, None, &mut values)
                    .map_err(wrong)?;
                (read.0, Values::Floats(values))
            }
            ColumnReader::FloatColumnReader(from) => {
                let mut values = Vec::with_capacity(rows);
                let read = from
                    .read_records(rows, levels, None, &mut values)
                    .map_err(wrong)?;
                let values = values.into_iter().map(f64::from).collect();
                (read.0, Values::Floats(values))
            }
            ColumnReader::ByteArrayColumnReader(from) => {
                let mut values = Vec::with_capacity(rows);
                let read = from
                    .read_records(rows, levels, None, &mut values)
                    .map_err(wrong)?;
                (read.0, Values::Texts(values))
            }
            _ => {
                return Err(invalid(format!(
                    "column `{name}` has neither numbers of 32 or 64 bits nor text"
                )));
            }
        };
        self.values = values;
        match read == rows {
            true => Ok(()),
            false => Err(invalid(format!("column `{name}` ends early"))),
        }
    }

    /// The value of the next row, the `row`th of the batch.
    fn value(&mut self, row: usize) -> io::Result<Value<'_>> {
        if self.most > 0 && self.levels.get(row).is_none_or(|level| *level < self.most) {
            return Ok(Value::None);
        }
        let at = self.next;
        self.next += 1;
        let value = match &self.values {
            Values::Integers(values) => values.get(at).map(|value| Value::Integer(*value)),
            Values::Floats(values) => values.get(at).map(|value| Value::Float(*value)),
            Values::Texts(values) => match values.get(at).map(|value| value.as_utf8()) {
                Some(Ok(text)) => Some(Value::Text(text)),
                Some(Err(_)) => {
                    return Err(invalid(format!(
                        "column `{}` has no valid UTF-8",
                        self.name
                    )));
                }
                None => None,
            },
        };
        value.ok_or_else(|| invalid(format!("column `{}` ends early", self.name)))
    }
}

#[cfg(test)]
mod tests {
    use super::super::columns::{Kind, Property, Table};
    use super::*;

    fn written(format: Format, rows: usize) -> (PathBuf, PathBuf) {
        let folder = format!(
            "lisa-read-{}-{}-{rows}",
            std::process::id(),
            format.extension()
        );
        let folder = std::env::temp_dir().join(folder);
        std::fs::create_dir_all(&folder).unwrap();
        let path = folder.join("a").with_extension(format.extension());
        let columns = [
            ("time_s", Kind::Float),
            ("name", Kind::Text),
            ("n", Kind::Integer),
        ];
        let mut table = Table::create(&path, format, &columns).unwrap();
        for row in 0..rows {
            let name = if row % 2 == 0 { "1" } else { "a,b" };
            let n = match row % 3 {
                0 => Value::None,
                _ => Value::Integer(row as i64),
            };
            table
                .row(&[Value::Float(row as f64 / 2.0), Value::Text(name), n])
                .unwrap();
        }
        table.describe(&[Property {
            key: "lisa.schema",
            value: "x/1".into(),
        }]);
        table.finish().unwrap();
        (folder, path)
    }

    /// More rows than a batch and than a group of rows.
    #[test]
    fn written_rows_read_back() {
        for format in [Format::Parquet, Format::Csv] {
            for rows in [0, 3, (1 << 17) + BATCH + 5] {
                let (folder, path) = written(format, rows);
                let reader = Reader::open(&path).unwrap();
                assert_eq!(reader.columns(), ["time_s", "name", "n"]);
                let is_parquet = format == Format::Parquet;
                assert_eq!(reader.property("lisa.schema"), is_parquet.then_some("x/1"));
                let mut row = 0;
                let wanted = [("n", Want::Number), ("name", Want::Text)];
                let read = reader.each(&wanted, |values| {
                    let name = if row % 2 == 0 { "1" } else { "a,b" };
                    assert_eq!(values[1], Value::Text(name));
                    match (row % 3, values[0]) {
                        (0, Value::None) => {}
                        (_, Value::Integer(n)) => assert_eq!(n, row as i64),
                        (_, Value::Float(n)) => assert_eq!(n, row as f64),
                        (_, other) => panic!("{row}: {other:?}"),
                    }
                    row += 1;
                });
                read.unwrap();
                assert_eq!(row, rows);
                std::fs::remove_dir_all(folder).unwrap();
            }
        }
    }

    #[test]
    fn wrong_files_are_errors_with_their_name() {
        let (folder, path) = written(Format::Csv, 3);
        let error = |path: &Path| Reader::open(path).err().unwrap().to_string();
        let missing = Reader::open(&path)
            .unwrap()
            .each(&[("x", Want::Any)], |_| {});
        assert!(
            missing
                .unwrap_err()
                .to_string()
                .ends_with("a.csv: no column `x`")
        );
        let text = Reader::open(&path)
            .unwrap()
            .each(&[("name", Want::Number)], |_| {});
        let text = text.unwrap_err().to_string();
        assert!(text.ends_with("line 3: `a,b` is not a number"), "{text}");
        let false_parquet = folder.join("b.parquet");
        std::fs::copy(&path, &false_parquet).unwrap();
        assert!(error(&false_parquet).contains("b.parquet: no Parquet file"));
        let other = folder.join("c.txt");
        assert!(error(&other).contains("ends with .parquet or .csv"));
        assert!(error(&folder.join("none.csv")).contains("No such file"));
        std::fs::write(&path, "a,b\n1\n").unwrap();
        let ragged = Reader::open(&path)
            .unwrap()
            .each(&[("a", Want::Any)], |_| {});
        assert!(ragged.unwrap_err().to_string().contains("no CSV table"));
        std::fs::remove_dir_all(folder).unwrap();
    }
}
