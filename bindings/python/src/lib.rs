//! streamflow for Python: tensors and streams that other libraries can use, in order and without copies.
//!
//! The documentation for users is in the Python package `streamflow`, whose native module this crate is. A crate that makes
//! Python classes of its own graphs also depends on this crate: see [`export!`].

mod array_interface;
mod capsule;
mod classes;
mod cuda_interface;
mod demo;
mod dtype;
mod error;
mod event;
mod exchange;
mod graph;
mod handle;
mod held;
mod import;
mod make;
mod memory;
mod own;
mod owner;
mod platform;
mod stream;
mod stream_argument;
mod tensor;
mod unseen;
mod upload;
mod work_stream;

use std::collections::BTreeMap;

use pyo3::prelude::*;
use streamflow::memory as library;

pub use graph::{
    Adopting, Ended, FlushToPython, FromPython, Graph, Input, InputMessage, InputPort, Message,
    Output, OutputMessage, OutputPort, Report, Running, ToPython,
};
pub use platform::Platform;
pub use stream::Stream;
pub use tensor::Tensor;

/// The items that the code expanded from [`export!`] uses.
#[doc(hidden)]
pub mod __private {
    pub use streamflow::graph::Graph as AnyGraph;

    pub use crate::graph::Maker;
    pub use crate::own::own_or_none;

    /// Converts a result of streamflow into one of Python.
    pub fn or_raise<T>(result: Result<T, streamflow::Error>) -> pyo3::PyResult<T> {
        crate::error::OrRaise::or_raise(result)
    }
}

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

/// Stops all graphs, and from then on gives no memory back to other libraries. The interpreter calls this at its exit.
#[pyfunction]
fn _stop(py: Python<'_>) {
    // The interpreter lock is released: a thread that is dropping an owner of memory may need it.
    py.detach(|| {
        graph::stop_all_blocking();
        library::ForeignMemory::stop_giving_back_blocking();
    });
}

/// Adds the classes and functions of streamflow to a module, and registers `_stop` for the exit of the interpreter. Each native
/// module has classes of its own: for one module, the tensors of another are arrays of another library, and `as_tensor` accepts
/// them.
///
/// # Errors
/// The exceptions that Python raises.
pub fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    add(module)?;
    module.py().import("atexit")?.call_method1("register", (module.getattr("_stop")?,))?;
    Ok(())
}

#[pymodule]
fn _streamflow(module: &Bound<'_, PyModule>) -> PyResult<()> {
    add_to(module)?;
    module.add_class::<demo::Scale>()
}

fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<platform::Platform>()?;
    module.add_class::<stream::Stream>()?;
    module.add_class::<event::Event>()?;
    module.add_class::<tensor::Tensor>()?;
    module.add_class::<Graph>()?;
    module.add_class::<Running>()?;
    module.add_class::<Report>()?;
    module.add_class::<Input>()?;
    module.add_class::<Output>()?;
    module.add_class::<Message>()?;
    module.add("Ended", module.py().get_type::<Ended>())?;
    module.add("Error", module.py().get_type::<error::StreamflowError>())?;
    module.add_function(wrap_pyfunction!(platform::default_platform, module)?)?;
    module.add_function(wrap_pyfunction!(make::empty, module)?)?;
    module.add_function(wrap_pyfunction!(make::zeros, module)?)?;
    module.add_function(wrap_pyfunction!(import::from_dlpack, module)?)?;
    module.add_function(wrap_pyfunction!(import::as_tensor, module)?)?;
    module.add_function(wrap_pyfunction!(work_stream::work_stream, module)?)?;
    module.add_function(wrap_pyfunction!(live, module)?)?;
    module.add_function(wrap_pyfunction!(_stop, module)?)
}
