use super::*;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::{Field, Row};
use std::fs::File;

/// A file that is removed afterwards.
struct Temporary(PathBuf);

impl Temporary {
    fn new(name: &str) -> Self {
        Self(std::env::temp_dir().join(format!("lisa-columns-{}-{name}", std::process::id())))
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

const COLUMNS: [(&str, Kind); 3] = [
    ("name", Kind::Text),
    ("number", Kind::Integer),
    ("value", Kind::Float),
];

fn write(file: &Temporary, format: Format, rows: usize) {
    let mut table = Table::create(&file.0, format, &COLUMNS).unwrap();
    for number in 0..rows {
        let name = if number % 2 == 0 {
            "even, \"so\" to say"
        } else {
            "odd"
        };
        let value = Some(number as f64 / 4.0).filter(|_| number % 3 > 0);
        table
            .row(&[
                Value::Text(name),
                Value::Integer(number as i64),
                value.into(),
            ])
            .unwrap();
    }
    table.finish().unwrap();
}

fn read(file: &Temporary) -> Vec<Row> {
    let reader = SerializedFileReader::new(File::open(&file.0).unwrap()).unwrap();
    assert_eq!(
        reader.metadata().file_metadata().created_by(),
        Some("lisa 0.1.0")
    );
    reader
        .get_row_iter(None)
        .unwrap()
        .map(Result::unwrap)
        .collect()
}

#[test]
fn parquet_reads_back() {
    let file = Temporary::new("back.parquet");
    // More than one group of rows.
    write(&file, Format::Parquet, ROWS_PER_GROUP + 5);
    let rows = read(&file);
    assert_eq!(rows.len(), ROWS_PER_GROUP + 5);
    for (number, row) in rows.iter().enumerate() {
        let columns: Vec<_> = row.get_column_iter().collect();
        let name = if number % 2 == 0 {
            "even, \"so\" to say"
        } else {
            "odd"
        };
        let value = match number % 3 {
            0 => Field::Null,
            _ => Field::Double(number as f64 / 4.0),
        };
        assert_eq!(columns[0], (&"name".to_string(), &Field::Str(name.into())));
        assert_eq!(
            columns[1],
            (&"number".to_string(), &Field::Long(number as i64))
        );
        assert_eq!(columns[2], (&"value".to_string(), &value));
    }
}

#[test]
fn equal_rows_are_equal_bytes() {
    let files = [Temporary::new("one.parquet"), Temporary::new("two.parquet")];
    let bytes = files.each_ref().map(|file| {
        write(file, Format::Parquet, 1000);
        std::fs::read(&file.0).unwrap()
    });
    assert!(bytes[0] == bytes[1]);
}

#[test]
fn a_file_without_rows_can_be_read() {
    let file = Temporary::new("none.parquet");
    write(&file, Format::Parquet, 0);
    assert!(read(&file).is_empty());
}

#[test]
fn csv_has_a_heading_and_quotes() {
    let file = Temporary::new("a.csv");
    write(&file, Format::Csv, 2);
    let text = std::fs::read_to_string(&file.0).unwrap();
    assert_eq!(
        text,
        "name,number,value\n\"even, \"\"so\"\" to say\",0,\nodd,1,0.25\n"
    );
}

#[test]
fn errors_name_the_file() {
    let error = Table::create(Path::new("/nowhere/a.csv"), Format::Csv, &COLUMNS)
        .err()
        .unwrap();
    assert!(error.to_string().starts_with("/nowhere/a.csv: "), "{error}");
    assert_eq!(Format::of(Path::new("a.CSV")), Some(Format::Csv));
    assert_eq!(Format::of(Path::new("a.b/parquet")), None);
}
