//! Arrow tables, which the Arrow PyCapsule interface exports without a copy.

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
use lasthop_lab::compare::Amounts;
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use std::collections::HashMap;
use std::sync::Arc;

/// A table of named columns; a column's name includes its unit.
#[pyclass(frozen, module = "lasthop._lasthop")]
pub struct Table(RecordBatch);

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

    /// Adds a column of text; `doc` is the meaning of the column.
    pub fn words<S: AsRef<str>>(
        self,
        name: &str,
        doc: &str,
        values: impl IntoIterator<Item = Option<S>>,
    ) -> Columns {
        self.add(name, doc, Arc::new(values.into_iter().collect::<StringArray>()))
    }

    /// Adds a column with the values of a key, as the user wrote them. If all values are numbers without a unit, the
    /// column has numbers (integers if all are whole); otherwise it has text. If all texts are amounts of one quantity,
    /// an additional column has the amounts in the base unit: `rate_bps` in addition to `rate`.
    pub fn values(self, name: &str, doc: &str, values: &[&str]) -> Columns {
        if let Some(whole) = all(values, |value| value.trim().parse::<i64>().ok()) {
            return self.counts(name, doc, whole.into_iter().map(Some));
        }
        let number = |value: &str| value.trim().parse::<f64>().ok().filter(|number| number.is_finite());
        if let Some(numbers) = all(values, number) {
            return self.numbers(name, doc, numbers.into_iter().map(Some));
        }
        let columns = self.words(name, doc, values.iter().copied().map(Some));
        match Amounts::of(values) {
            Some(Amounts { suffix, unit, numbers }) => {
                let doc = format!("{name} as a number, {unit}");
                columns.numbers(&format!("{name}{suffix}"), &doc, numbers.into_iter().map(Some))
            }
            None => columns,
        }
    }

    pub fn numbers(self, name: &str, doc: &str, values: impl IntoIterator<Item = Option<f64>>) -> Columns {
        self.add(name, doc, Arc::new(values.into_iter().collect::<Float64Array>()))
    }

    pub fn counts(self, name: &str, doc: &str, values: impl IntoIterator<Item = Option<i64>>) -> Columns {
        self.add(name, doc, Arc::new(values.into_iter().collect::<Int64Array>()))
    }

    /// Adds a column of 64-bit unsigned integers.
    pub fn seeds(self, name: &str, doc: &str, values: impl IntoIterator<Item = u64>) -> Columns {
        self.add(name, doc, Arc::new(UInt64Array::from_iter_values(values)))
    }

    pub fn flags(self, name: &str, doc: &str, values: impl IntoIterator<Item = Option<bool>>) -> Columns {
        self.add(name, doc, Arc::new(values.into_iter().collect::<BooleanArray>()))
    }

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

    pub fn table(self, py: Python<'_>) -> PyResult<Table> {
        let schema = Arc::new(Schema::new(self.fields));
        match RecordBatch::try_new(schema, self.arrays) {
            Ok(batch) => Ok(Table(batch)),
            Err(error) => Err(bad_input(py, format!("invalid table: {error}"), "")),
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

    /// Names of the columns, in order.
    #[getter]
    fn column_names(&self) -> Vec<String> {
        self.0.schema().fields().iter().map(|field| field.name().clone()).collect()
    }

    /// Types of the columns in Arrow's notation: `Float64`, `Utf8`.
    #[getter]
    fn column_types(&self) -> Vec<String> {
        self.0.schema().fields().iter().map(|field| field.data_type().to_string()).collect()
    }

    /// Meaning of a column, one line.
    fn doc(&self, py: Python<'_>, name: &str) -> PyResult<String> {
        let place = self.place(py, name)?;
        let schema = self.0.schema();
        Ok(schema.field(place).metadata().get("doc").cloned().unwrap_or_default())
    }

    /// Values of a column; None if undefined.
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

    /// The table as an Arrow stream of one batch, without a copy (Arrow PyCapsule interface).
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        // The PyCapsule interface permits ignoring the requested schema; the consumer then converts the data.
        let _ = requested_schema;
        let batches = RecordBatchIterator::new([Ok(self.0.clone())], self.0.schema());
        let stream = FFI_ArrowArrayStream::new(Box::new(batches));
        Ok(PyCapsule::new_with_value(py, stream, c"arrow_array_stream")?.into_any())
    }

    /// Names and types of the columns (Arrow PyCapsule interface).
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        match FFI_ArrowSchema::try_from(self.0.schema().as_ref()) {
            Ok(schema) => Ok(PyCapsule::new_with_value(py, schema, c"arrow_schema")?.into_any()),
            Err(error) => Err(bad_input(py, format!("invalid schema: {error}"), "")),
        }
    }
}

/// Parses all values. Returns `None` if the list is empty or a value is invalid.
fn all<T>(values: &[&str], read: impl Fn(&str) -> Option<T>) -> Option<Vec<T>> {
    if values.is_empty() {
        return None;
    }
    values.iter().map(|value| read(value)).collect()
}

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
