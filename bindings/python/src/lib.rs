//! streamflow for Python: tensors and streams that other libraries can use, in order and without copies.
//!
//! The Python package `streamflow` has the documentation for users. This crate is its native module.

mod array_interface;
mod capsule;
mod cuda_interface;
mod dtype;
mod error;
mod event;
mod exchange;
mod handle;
mod held;
mod import;
mod memory;
mod owner;
mod platform;
mod stream;
mod tensor;
mod unseen;
mod work_stream;

use std::collections::BTreeMap;

use pyo3::prelude::*;
use streamflow::memory as library;

/// How many allocations have crossed the border between streamflow and other libraries.
///
/// Returns
/// -------
/// dict
///     `adopted`: memory of other libraries that was not given back yet; `lent`: memory of streamflow that other
///     libraries have; `leaked`: memory that will not be given back, since the interpreter has ended.
#[pyfunction]
fn live() -> BTreeMap<&'static str, u64> {
    let counts = library::foreign_counts();
    [("adopted", counts.adopted), ("lent", counts.lent), ("leaked", counts.leaked)].into()
}

/// Gives no memory back to other libraries any more. Called at the interpreter's exit.
#[pyfunction]
fn _stop(py: Python<'_>) {
    // An owner that is being dropped may need the interpreter lock for that.
    py.detach(library::stop_giving_back_blocking);
}

#[pymodule]
fn _streamflow(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<platform::Platform>()?;
    module.add_class::<stream::Stream>()?;
    module.add_class::<event::Event>()?;
    module.add_class::<tensor::Tensor>()?;
    module.add("Error", module.py().get_type::<error::StreamflowError>())?;
    module.add_function(wrap_pyfunction!(platform::default_platform, module)?)?;
    module.add_function(wrap_pyfunction!(platform::empty, module)?)?;
    module.add_function(wrap_pyfunction!(platform::zeros, module)?)?;
    module.add_function(wrap_pyfunction!(import::from_dlpack, module)?)?;
    module.add_function(wrap_pyfunction!(import::as_tensor, module)?)?;
    module.add_function(wrap_pyfunction!(work_stream::work_stream, module)?)?;
    module.add_function(wrap_pyfunction!(live, module)?)?;
    module.add_function(wrap_pyfunction!(_stop, module)?)
}
