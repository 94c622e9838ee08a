//! Arguments that must be objects of this module's classes. Each native module has classes of its own, so a class of another
//! module with the same name is a different class.

use pyo3::PyClass;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyType;

/// Converts an argument that must be of a class of this module.
///
/// # Errors
/// `TypeError` for an object of another class. If that is the class with the same name in another module, the text says so.
pub(crate) fn own<T: PyClass>(object: &Bound<'_, PyAny>) -> PyResult<Py<T>> {
    not_of_another_module::<T>(object)?;
    Ok(object.cast::<T>()?.clone().unbind())
}

/// Converts an argument that must be of a class of this module, or `None`.
///
/// # Errors
/// As for [`own`].
pub fn own_or_none<T: PyClass>(object: &Bound<'_, PyAny>) -> PyResult<Option<Py<T>>> {
    if object.is_none() { Ok(None) } else { own(object).map(Some) }
}

/// Returns an error for an object whose class has the name of a class of this module, but belongs to another module.
///
/// # Errors
/// `TypeError` for such an object.
pub(crate) fn not_of_another_module<T: PyClass>(object: &Bound<'_, PyAny>) -> PyResult<()> {
    let class = T::type_object(object.py());
    let name =
        |class: &Bound<'_, PyType>| Ok::<_, PyErr>(class.fully_qualified_name()?.to_string());
    if object.is_instance(&class)? || name(&object.get_type())? != name(&class)? {
        return Ok(());
    }
    let class = class.name()?;
    Err(PyTypeError::new_err(format!(
        "the {class} is of another native module, and each has classes of its own; pass a {class} of the module that has the \
         function called; on a GPU, `Stream.from_external(stream)` takes a stream of any module"
    )))
}
