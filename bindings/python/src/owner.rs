//! Python objects that own memory.

use pyo3::prelude::*;

/// An object that keeps memory alive. Any thread may drop it, taking the interpreter lock for that.
pub(crate) struct Owner(Option<Py<PyAny>>);

impl Owner {
    /// Keeps an object alive.
    pub(crate) fn new(object: &Bound<'_, PyAny>) -> Self {
        Self(Some(object.clone().unbind()))
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        let Some(object) = self.0.take() else { return };
        let mut object = Some(object);
        // While the interpreter ends, the lock can't be taken any more. Then the object stays.
        let _dropped = Python::try_attach(|py| {
            if let Some(object) = object.take() {
                drop(object.into_bound(py));
            }
        });
        std::mem::forget(object);
    }
}
