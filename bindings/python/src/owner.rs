//! Python objects that own memory.

use pyo3::prelude::*;

/// A Python object that keeps memory alive. Any thread may drop it: the drop takes the interpreter lock.
pub(crate) struct Owner(Option<Py<PyAny>>);

impl Owner {
    /// Creates an owner with a new reference to the object.
    pub(crate) fn new(object: &Bound<'_, PyAny>) -> Self {
        Self(Some(object.clone().unbind()))
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        let Some(object) = self.0.take() else { return };
        let mut object = Some(object);
        // While the interpreter is exiting, no thread can take the interpreter lock. The object is then leaked.
        let _dropped = Python::try_attach(|py| {
            if let Some(object) = object.take() {
                drop(object.into_bound(py));
            }
        });
        std::mem::forget(object);
    }
}
