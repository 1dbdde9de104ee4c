//! Tables in Arrow's columns, which pandas, polars and others read without a copy (the Arrow PyCapsule interface).

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::builder::{Float64Builder, Int64Builder, StringBuilder};
use arrow_array::cast::AsArray;
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::types::{Float64Type, Int64Type};
use arrow_array::{ArrayRef, RecordBatch, RecordBatchIterator, RecordBatchOptions};
use arrow_schema::{ArrowError, DataType, Field, Schema};
use pyo3::exceptions::{PyKeyError, PyMemoryError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyList};
use scenario::export::columns::{Kind, Property, Value};

/// A table of named columns.
#[derive(Clone)]
#[pyclass(frozen, module = "lisa._native")]
pub struct Table {
    batch: RecordBatch,
}

#[pymethods]
impl Table {
    /// The table as a stream of one batch. `requested_schema` is ignored, as the interface permits.
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let _ = requested_schema;
        let batches = [Ok::<_, ArrowError>(self.batch.clone())];
        let reader = RecordBatchIterator::new(batches, self.batch.schema());
        let stream = FFI_ArrowArrayStream::new(Box::new(reader));
        PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
    }

    /// Names of the columns.
    #[getter]
    fn column_names(&self) -> Vec<String> {
        let schema = self.batch.schema();
        schema.fields().iter().map(|f| f.name().clone()).collect()
    }

    fn __len__(&self) -> usize {
        self.batch.num_rows()
    }

    /// Values of a column as a list; a missing value is `None`.
    fn column<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyList>> {
        let Some(column) = self.batch.column_by_name(name) else {
            return Err(PyKeyError::new_err(format!("no column `{name}`")));
        };
        if let Some(column) = column.as_primitive_opt::<Int64Type>() {
            PyList::new(py, column.iter().collect::<Vec<_>>())
        } else if let Some(column) = column.as_primitive_opt::<Float64Type>() {
            PyList::new(py, column.iter().collect::<Vec<_>>())
        } else {
            PyList::new(py, column.as_string::<i32>().iter().collect::<Vec<_>>())
        }
    }
}

/// Rows that become a table.
pub struct Builder {
    fields: Vec<Field>,
    columns: Vec<Column>,
    metadata: HashMap<String, String>,
    rows: usize,
}

enum Column {
    Integers(Int64Builder),
    Floats(Float64Builder),
    Texts(StringBuilder),
}

impl Builder {
    /// No rows, with these columns.
    pub fn new<'a>(columns: impl IntoIterator<Item = (&'a str, Kind)>) -> Self {
        let (mut fields, mut builders) = (Vec::new(), Vec::new());
        for (name, kind) in columns {
            let (of, column) = match kind {
                Kind::Integer => (DataType::Int64, Column::Integers(Int64Builder::new())),
                Kind::Float => (DataType::Float64, Column::Floats(Float64Builder::new())),
                Kind::Text => (DataType::Utf8, Column::Texts(StringBuilder::new())),
            };
            fields.push(Field::new(name, of, true));
            builders.push(column);
        }
        Self {
            fields,
            columns: builders,
            metadata: HashMap::new(),
            rows: 0,
        }
    }

    /// Adds metadata of the table.
    pub fn describe(&mut self, properties: impl IntoIterator<Item = Property>) {
        let pairs = properties.into_iter();
        let pairs = pairs.map(|property| (property.key.to_owned(), property.value));
        self.metadata.extend(pairs);
    }

    /// Adds a row: a value for each column, of the column's kind.
    pub fn row(&mut self, row: &[Value<'_>]) {
        for (column, value) in self.columns.iter_mut().zip(row) {
            match (column, *value) {
                (Column::Integers(to), Value::Integer(value)) => to.append_value(value),
                (Column::Integers(to), _) => to.append_null(),
                (Column::Floats(to), Value::Float(value)) => to.append_value(value),
                (Column::Floats(to), _) => to.append_null(),
                (Column::Texts(to), Value::Text(value)) => to.append_value(value),
                (Column::Texts(to), _) => to.append_null(),
            }
        }
        self.rows += 1;
    }

    /// The table.
    pub fn finish(self) -> PyResult<Table> {
        let array = |column: Column| -> ArrayRef {
            match column {
                Column::Integers(mut column) => Arc::new(column.finish()),
                Column::Floats(mut column) => Arc::new(column.finish()),
                Column::Texts(mut column) => Arc::new(column.finish()),
            }
        };
        let arrays = self.columns.into_iter().map(array).collect();
        let schema = Arc::new(Schema::new_with_metadata(self.fields, self.metadata));
        let options = RecordBatchOptions::new().with_row_count(Some(self.rows));
        let batch = RecordBatch::try_new_with_options(schema, arrays, &options);
        let batch = batch.map_err(|error| PyMemoryError::new_err(error.to_string()))?;
        Ok(Table { batch })
    }
}
