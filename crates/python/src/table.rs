//! Columns in Arrow's form, given away without a copy by the Arrow PyCapsule interface.

use crate::error::bad_input;
use arrow_array::builder::{ListBuilder, UInt32Builder};
use arrow_array::cast::AsArray;
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::types::{Float64Type, Int64Type, UInt32Type, UInt64Type};
use arrow_array::{
    Array, ArrayRef, BooleanArray, Float64Array, Int64Array, RecordBatch, RecordBatchIterator, StringArray,
    UInt64Array,
};
use arrow_schema::ffi::FFI_ArrowSchema;
use arrow_schema::{DataType, Field, Schema};
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use std::collections::HashMap;
use std::sync::Arc;

/// A table of named columns; each column's name has its unit.
#[pyclass(frozen, module = "lasthop._lasthop")]
pub struct Table(RecordBatch);

/// Columns one after the other, all of the same length.
#[derive(Default)]
pub struct Columns {
    fields: Vec<Field>,
    arrays: Vec<ArrayRef>,
}

impl Columns {
    fn add(mut self, name: &str, doc: &str, array: ArrayRef) -> Columns {
        let about = HashMap::from([("doc".to_owned(), doc.to_owned())]);
        self.fields.push(Field::new(name, array.data_type().clone(), true).with_metadata(about));
        self.arrays.push(array);
        self
    }

    /// A column of words; `doc` says what it is.
    pub fn words<S: AsRef<str>>(
        self,
        name: &str,
        doc: &str,
        values: impl IntoIterator<Item = Option<S>>,
    ) -> Columns {
        self.add(name, doc, Arc::new(values.into_iter().collect::<StringArray>()))
    }

    /// A column of a key's values as they were written: numbers if all of them are bare numbers, whole ones if all are
    /// whole; else words. A value with a unit is a word.
    pub fn values(self, name: &str, doc: &str, values: &[&str]) -> Columns {
        if let Some(whole) = all(values, |value| value.trim().parse::<i64>().ok()) {
            return self.counts(name, doc, whole.into_iter().map(Some));
        }
        let number = |value: &str| value.trim().parse::<f64>().ok().filter(|number| number.is_finite());
        match all(values, number) {
            Some(numbers) => self.numbers(name, doc, numbers.into_iter().map(Some)),
            None => self.words(name, doc, values.iter().copied().map(Some)),
        }
    }

    /// A column of numbers.
    pub fn numbers(self, name: &str, doc: &str, values: impl IntoIterator<Item = Option<f64>>) -> Columns {
        self.add(name, doc, Arc::new(values.into_iter().collect::<Float64Array>()))
    }

    /// A column of whole numbers.
    pub fn counts(self, name: &str, doc: &str, values: impl IntoIterator<Item = Option<i64>>) -> Columns {
        self.add(name, doc, Arc::new(values.into_iter().collect::<Int64Array>()))
    }

    /// A column of numbers that may need all of 64 bits.
    pub fn seeds(self, name: &str, doc: &str, values: impl IntoIterator<Item = u64>) -> Columns {
        self.add(name, doc, Arc::new(UInt64Array::from_iter_values(values)))
    }

    /// A column of yes and no.
    pub fn flags(self, name: &str, doc: &str, values: impl IntoIterator<Item = Option<bool>>) -> Columns {
        self.add(name, doc, Arc::new(values.into_iter().collect::<BooleanArray>()))
    }

    /// A column of lists of numbers.
    pub fn lists<'v>(
        self,
        name: &str,
        doc: &str,
        values: impl IntoIterator<Item = Option<&'v [u32]>>,
    ) -> Columns {
        let mut lists = ListBuilder::new(UInt32Builder::new());
        for value in values {
            match value {
                Some(numbers) => {
                    lists.values().append_slice(numbers);
                    lists.append(true);
                }
                None => lists.append(false),
            }
        }
        self.add(name, doc, Arc::new(lists.finish()))
    }

    /// The table of them.
    pub fn table(self, py: Python<'_>) -> PyResult<Table> {
        let schema = Arc::new(Schema::new(self.fields));
        match RecordBatch::try_new(schema, self.arrays) {
            Ok(batch) => Ok(Table(batch)),
            Err(error) => Err(bad_input(py, format!("this is no table: {error}"), "")),
        }
    }
}

#[pymethods]
impl Table {
    /// Number of rows.
    #[getter]
    fn num_rows(&self) -> usize {
        self.0.num_rows()
    }

    /// The columns' names, in order.
    #[getter]
    fn column_names(&self) -> Vec<String> {
        self.0.schema().fields().iter().map(|field| field.name().clone()).collect()
    }

    /// The columns' types, as Arrow calls them: `Float64`, `Utf8`.
    #[getter]
    fn column_types(&self) -> Vec<String> {
        self.0.schema().fields().iter().map(|field| field.data_type().to_string()).collect()
    }

    /// What a column is, one line.
    fn doc(&self, py: Python<'_>, name: &str) -> PyResult<String> {
        let place = self.place(py, name)?;
        let schema = self.0.schema();
        Ok(schema.field(place).metadata().get("doc").cloned().unwrap_or_default())
    }

    /// A column's values; None where one is undefined.
    fn column<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let array = self.0.column(self.place(py, name)?);
        match array.data_type() {
            DataType::Float64 => objects(py, array.as_primitive::<Float64Type>().iter()),
            DataType::Int64 => objects(py, array.as_primitive::<Int64Type>().iter()),
            DataType::UInt64 => objects(py, array.as_primitive::<UInt64Type>().iter()),
            DataType::Boolean => objects(py, array.as_boolean().iter()),
            DataType::List(_) => {
                let list = |list: ArrayRef| list.as_primitive::<UInt32Type>().values().to_vec();
                objects(py, array.as_list::<i32>().iter().map(|one| one.map(list)))
            }
            _ => objects(py, array.as_string::<i32>().iter()),
        }
    }

    /// The table as a stream of one batch (Arrow PyCapsule interface); nothing is copied.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        // Whoever asks for another schema may convert: the interface leaves that to the consumer.
        let _ = requested_schema;
        let batches = RecordBatchIterator::new([Ok(self.0.clone())], self.0.schema());
        let stream = FFI_ArrowArrayStream::new(Box::new(batches));
        Ok(PyCapsule::new_with_value(py, stream, c"arrow_array_stream")?.into_any())
    }

    /// The columns' names and types (Arrow PyCapsule interface).
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        match FFI_ArrowSchema::try_from(self.0.schema().as_ref()) {
            Ok(schema) => Ok(PyCapsule::new_with_value(py, schema, c"arrow_schema")?.into_any()),
            Err(error) => Err(bad_input(py, format!("this is no schema: {error}"), "")),
        }
    }
}

/// Reads each value; `None` without values, or if one cannot be read.
fn all<T>(values: &[&str], read: impl Fn(&str) -> Option<T>) -> Option<Vec<T>> {
    if values.is_empty() {
        return None;
    }
    values.iter().map(|value| read(value)).collect()
}

/// Values as Python has them.
fn objects<'py, T: IntoPyObjectExt<'py>>(
    py: Python<'py>,
    values: impl Iterator<Item = T>,
) -> PyResult<Vec<Bound<'py, PyAny>>> {
    values.map(|value| value.into_bound_py_any(py)).collect()
}

impl Table {
    fn place(&self, py: Python<'_>, name: &str) -> PyResult<usize> {
        self.0.schema().index_of(name).map_err(|_| {
            let known = self.column_names();
            let names: Vec<&str> = known.iter().map(String::as_str).collect();
            let meant = lasthop_scenario::nearest(name, names.iter().copied())
                .map_or(String::new(), |meant| format!("did you mean `{meant}`? "));
            bad_input(
                py,
                format!("there is no column `{name}`"),
                format!("{meant}the columns: {}", names.join(", ")),
            )
        })
    }
}
