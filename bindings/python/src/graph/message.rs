//! The messages that a program pushes to a graph or takes from it, and their types in Python.

use std::any::Any;

use pyo3::exceptions::{PyBufferError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use streamflow::memory::dlpack::{Abi, Consumer, DlTensor};
use streamflow::memory::{After, PitchedTensor};
use streamflow::message::{Device, TensorMap};
use streamflow::port::Receive;
use streamflow::{Element, Message, Shared, Tensor as Inner};

use crate::dtype::for_dtype;
use crate::error::OrRaise;
use crate::held::{AnyTensor, Held};
use crate::import;
use crate::stream::Stream;
use crate::tensor::Tensor;

/// The settings with which a port converts the objects that Python pushes.
pub struct Adopting<'a, 'py> {
    pub(crate) py: Python<'py>,
    pub(crate) port: &'a str,
    /// The port's stream. It waits for the work of the library that has produced the array.
    pub(crate) stream: &'a Py<Stream>,
    pub(crate) shape: &'a [Option<usize>],
    /// The argument `copy`, as for `as_tensor`.
    pub(crate) copy: Option<bool>,
    /// Whether the port's stream does not wait for the tensor. Only tests set this: they need a tensor whose order is missing.
    pub(crate) is_unordered: bool,
}

/// A message that Python pushes: a tensor, or named tensors in a dict.
///
/// A struct of tensors with `#[derive(Message)]` gets this trait by `impl InputMessage for Detections {}`. Python then pushes a
/// dict with the names of the fields.
pub trait InputMessage: Message<Place = Device> + for<'t> Receive<'t, Message = Self> {
    /// Makes the message from a Python object.
    ///
    /// # Errors
    /// The exception for an object that can't become this message.
    fn adopt(value: &Bound<'_, PyAny>, adopting: &Adopting<'_, '_>) -> PyResult<Self> {
        TensorMap::adopt(value, adopting)?
            .into_message()
            .map_err(|error| PyValueError::new_err(format!("port `{}`: {error}", adopting.port)))
    }

    /// Returns the type of the objects that Python pushes, in words.
    fn describe() -> String {
        "a dict of tensors by name".to_owned()
    }
}

/// A message that Python takes: a tensor, or named tensors as a dict.
pub trait OutputMessage: Message<Place = Device> + Sized {
    /// Makes a Python object from the message. Its tensors belong to the port's stream.
    ///
    /// # Errors
    /// The exception for a message that has no form in Python.
    fn export(message: Shared<Self>, py: Python<'_>, stream: &Py<Stream>) -> PyResult<Py<PyAny>>;

    /// Returns the type of the objects that Python takes, in words, for texts.
    fn describe() -> String;
}

impl Adopting<'_, '_> {
    /// Converts an array into a tensor on the port's stream.
    fn tensor(&self, array: &Bound<'_, PyAny>, name: Option<&str>) -> PyResult<Box<dyn AnyTensor>> {
        let py = self.py;
        let held = match array.cast::<Tensor>() {
            _ if self.copy == Some(true) => import::adopt(array, self.stream.get(), self.copy)?,
            // The new tensor shares the memory of the pushed one. The port's stream waits for it, and the host does not.
            Ok(own) => {
                let (own, on, is_unordered) = (own.get(), self.stream.get(), self.is_unordered);
                let exported = py.detach(|| {
                    own.memory().settle()?;
                    if !is_unordered {
                        // Other libraries may have queued a write of the tensor on its stream, which they can use by its handle.
                        let written = own.stream().with(|_, own| own.record())?;
                        on.with(|_, stream| stream.wait(written))?;
                    }
                    on.with(|_, stream| {
                        let consumer = match is_unordered {
                            true => Consumer::Unordered,
                            false => Consumer::QueuesOn(stream),
                        };
                        own.held().export(Abi::Versioned, consumer)
                    })
                });
                // SAFETY: the structure was just made, and no other code has it. The export and the import name the same stream,
                // except for the unordered tensor of a test. Such a test orders the stream itself, or shows that the missing
                // order is found.
                let exported = unsafe { DlTensor::from_versioned(exported.or_raise()?.into_raw()) };
                self.import(exported.or_raise()?)?
            }
            Err(_) => import::adopt(array, self.stream.get(), self.copy)?,
        };
        let what = || match name {
            Some(name) => format!("port `{}`, tensor `{name}`", self.port),
            None => format!("port `{}`", self.port),
        };
        let fits = |(wanted, found): (&Option<usize>, &usize)| wanted.is_none_or(|it| it == *found);
        let shape = held.shape();
        if name.is_none()
            && !self.shape.is_empty()
            && (self.shape.len() != shape.len() || !self.shape.iter().zip(shape).all(fits))
        {
            return Err(PyValueError::new_err(format!(
                "{} takes tensors of shape {}, and this one has {}; push another, or reshape it",
                what(),
                shape_text(self.shape),
                shape_text(&shape.iter().copied().map(Some).collect::<Vec<_>>()),
            )));
        }
        Ok(held)
    }

    /// Imports a tensor that was exported by streamflow as a tensor of this port.
    fn import(&self, tensor: DlTensor) -> PyResult<Box<dyn AnyTensor>> {
        let dtype = tensor.dtype().to_string();
        for_dtype!(dtype.as_str(), T => {
            let on = self.stream.get();
            let imported = self.py.detach(|| {
                on.with(|platform, stream| {
                    import::take::<T>(platform, tensor, After::QueuedOn(stream), false)
                })
            });
            imported.or_raise()?
        })
    }

    /// Returns a dense tensor: this one, or a copy of it if there is padding between its rows. The copy is queued on the port's
    /// stream, and reads no padding.
    fn dense(&self, held: Box<dyn AnyTensor>, name: Option<&str>) -> PyResult<Box<dyn AnyTensor>> {
        if !held.is_padded() {
            return Ok(held);
        }
        if self.copy == Some(false) {
            let name = name.map(|name| format!(", tensor `{name}`")).unwrap_or_default();
            return Err(PyBufferError::new_err(format!(
                "port `{}`{name} takes dense tensors, and this one has the shape {:?} and strides of {:?} elements, with padding \
                 between its rows; push it with `copy=None`, which copies it",
                self.port,
                held.shape(),
                held.strides()
            )));
        }
        let on = self.stream.get();
        let copied = self.py.detach(|| on.with(|platform, stream| held.copied(platform, stream)));
        copied.or_raise()
    }

    /// The exception for elements of another type than `T`.
    fn other_type<T: Element>(&self, dtype: &str) -> PyErr {
        PyTypeError::new_err(format!(
            "port `{}` takes elements of type {}, and this tensor has {dtype}; convert it first, as by \
             `.astype(\"{}\")`",
            self.port,
            T::DTYPE,
            T::DTYPE
        ))
    }

    fn read_only(&self, name: Option<&str>) -> PyErr {
        let name = name.map(|name| format!(", tensor `{name}`")).unwrap_or_default();
        PyBufferError::new_err(format!(
            "port `{}`{name}: the array is read-only, and the graph may write what it gets here; push a copy, by \
             `push(…, copy=True)`",
            self.port
        ))
    }
}

/// Writes a shape as Python does. A length that may vary is written as `*`.
pub(crate) fn shape_text(shape: &[Option<usize>]) -> String {
    let lengths = shape.iter().map(|length| length.map_or("*".to_owned(), |it| it.to_string()));
    let text = lengths.collect::<Vec<_>>().join(", ");
    if shape.len() == 1 { format!("({text},)") } else { format!("({text})") }
}

impl<T: Element> InputMessage for Inner<T> {
    fn adopt(value: &Bound<'_, PyAny>, adopting: &Adopting<'_, '_>) -> PyResult<Self> {
        let held = adopting.tensor(value, None)?;
        let dtype = held.dtype();
        if dtype != T::DTYPE {
            return Err(adopting.other_type::<T>(dtype));
        }
        let any: Box<dyn Any> = adopting.dense(held, None)?;
        let Ok(held) = any.downcast::<Held<Self>>() else {
            return Err(adopting.other_type::<T>(dtype));
        };
        held.into_sole().map_err(|_| adopting.read_only(None))
    }

    fn describe() -> String {
        format!("a {} tensor", T::DTYPE)
    }
}

/// A tensor whose rows may be padded. Python pushes any array that `from_dlpack` takes, and nothing is copied.
impl<T: Element> InputMessage for PitchedTensor<T> {
    fn adopt(value: &Bound<'_, PyAny>, adopting: &Adopting<'_, '_>) -> PyResult<Self> {
        let held = adopting.tensor(value, None)?;
        let dtype = held.dtype();
        let any: Box<dyn Any> = held;
        let sole = match any.downcast::<Held<Self>>() {
            Ok(padded) => padded.into_sole().ok(),
            Err(any) => match any.downcast::<Held<Inner<T>>>() {
                Ok(dense) => dense.into_sole().ok().map(Self::from),
                Err(_) => return Err(adopting.other_type::<T>(dtype)),
            },
        };
        sole.ok_or_else(|| adopting.read_only(None))
    }

    fn describe() -> String {
        format!("a {} tensor whose rows may be padded", T::DTYPE)
    }
}

/// A dict of named tensors of any element types. The Rust code finds each tensor by the name that Python has given it.
impl InputMessage for TensorMap {
    fn adopt(value: &Bound<'_, PyAny>, adopting: &Adopting<'_, '_>) -> PyResult<Self> {
        let Ok(arrays) = value.cast::<PyDict>() else {
            return Err(PyTypeError::new_err(format!(
                "port `{}` takes a dict of tensors by name, and not a {}; push `{{\"name\": array}}`",
                adopting.port,
                value.get_type().name()?
            )));
        };
        let mut map = Self::new();
        for (name, array) in arrays {
            let name: String = name.extract().map_err(|_| {
                PyTypeError::new_err(format!("port `{}`: the names are strings", adopting.port))
            })?;
            let held = adopting.dense(adopting.tensor(&array, Some(&name))?, Some(&name))?;
            let dtype = held.dtype();
            let any: Box<dyn Any> = held;
            let done: PyResult<PyResult<()>> = for_dtype!(dtype, T => {
                match any.downcast::<Held<Inner<T>>>().map(|held| held.into_sole()) {
                    Ok(Ok(tensor)) => {
                        map.insert(name, tensor);
                        Ok(())
                    }
                    _ => Err(adopting.read_only(Some(&name))),
                }
            });
            done??;
        }
        Ok(map)
    }
}

macro_rules! outputs {
    ($($tensor:ident: $words:literal),*) => {$(
        impl<T: Element> OutputMessage for $tensor<T> {
            fn export(
                message: Shared<Self>,
                py: Python<'_>,
                stream: &Py<Stream>,
            ) -> PyResult<Py<PyAny>> {
                // If the message has another owner in the graph, Python may only read the tensor.
                let held = match message.try_unwrap() {
                    Ok(tensor) => Held::writable(tensor),
                    Err(shared) => Held::read_only(shared),
                };
                Ok(Py::new(py, Tensor::new(held, stream.clone_ref(py)))?.into_any())
            }

            fn describe() -> String {
                format!($words, T::DTYPE)
            }
        }
    )*};
}
outputs!(Inner: "a {} tensor", PitchedTensor: "a {} tensor whose rows may be padded");

impl OutputMessage for TensorMap {
    fn export(message: Shared<Self>, py: Python<'_>, stream: &Py<Stream>) -> PyResult<Py<PyAny>> {
        let Ok(mut map) = message.try_unwrap() else {
            return Err(PyTypeError::new_err(
                "the graph keeps this message as well, so its tensors can't be taken; give the port an output of its own",
            ));
        };
        let found: Vec<(String, &'static str)> =
            map.iter().map(|(name, tensor)| (name.to_owned(), tensor.dtype())).collect();
        let tensors = PyDict::new(py);
        for (name, dtype) in found {
            let held: PyResult<PyResult<Box<dyn AnyTensor>>> = for_dtype!(dtype, T => {
                map.take::<Inner<T>>(&name).map(Held::writable).map_err(|error| {
                    PyTypeError::new_err(format!("{error}; a port passes on a `Tensor` alone"))
                })
            });
            tensors.set_item(name, Py::new(py, Tensor::new(held??, stream.clone_ref(py)))?)?;
        }
        Ok(tensors.into_any().unbind())
    }

    fn describe() -> String {
        "a dict of tensors by name".to_owned()
    }
}
