//! NumPy's array interface, version 3, for host memory.

use pyo3::exceptions::{PyBufferError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use streamflow::device;
use streamflow::memory::{After, ForeignMemory, Shape};

use crate::dtype::{for_dtype, of_typestr, typestr};
use crate::error::OrRaise;
use crate::held::{AnyTensor, Held};
use crate::owner::Owner;
use crate::stream::Stream;
use crate::tensor::Tensor;
use crate::upload::upload;

/// An address beyond the memory of every process.
const LAST_ADDRESS: u64 = 1 << 56;

/// Returns the array interface of a tensor, as a dictionary.
pub(crate) fn describe<'py>(py: Python<'py>, tensor: &Tensor) -> PyResult<Bound<'py, PyDict>> {
    let typestr = typestr(tensor.held().dtype())?;
    let address = tensor.show(py)?;
    let (held, interface) = (tensor.held(), PyDict::new(py));
    interface.set_item("version", 3)?;
    interface.set_item("shape", PyTuple::new(py, held.shape())?)?;
    interface.set_item("typestr", typestr)?;
    interface.set_item("data", (address, held.is_read_only()))?;
    interface.set_item("strides", py.None())?;
    Ok(interface)
}

/// The entries of the dictionary of an array interface: NumPy's or CUDA's.
#[derive(Debug)]
pub(crate) struct Interface {
    pub(crate) address: u64,
    pub(crate) is_read_only: bool,
    pub(crate) dtype: String,
    pub(crate) shape: Vec<usize>,
}

impl Interface {
    /// Reads the entries that NumPy's and CUDA's interface both have. `name` is the interface's name for error texts.
    pub(crate) fn read(dict: &Bound<'_, PyAny>, name: &str) -> PyResult<Self> {
        let dict = dict.cast::<PyDict>().map_err(|_| {
            PyTypeError::new_err(format!("`{name}` is not a dictionary; pass the array itself"))
        })?;
        let entry = |key: &str| {
            dict.get_item(key)?.ok_or_else(|| {
                PyValueError::new_err(format!(
                    "`{name}` has no entry \"{key}\"; its exporter is wrong"
                ))
            })
        };
        let wrong = |key: &'static str| {
            move |_: PyErr| {
                PyValueError::new_err(format!(
                    "the entry \"{key}\" of `{name}` is not as its protocol says"
                ))
            }
        };
        let shape: Vec<usize> = entry("shape")?.extract().map_err(wrong("shape"))?;
        let data: Option<(u64, bool)> = entry("data")?.extract().map_err(wrong("data"))?;
        let typestr: String = entry("typestr")?.extract().map_err(wrong("typestr"))?;
        let Some((address, is_read_only)) = data else {
            return Err(PyBufferError::new_err(format!(
                "`{name}` names no memory; pass the array itself"
            )));
        };
        let mask = dict.get_item("mask")?;
        if mask.is_some_and(|mask| !mask.is_none()) {
            return Err(PyBufferError::new_err(
                "an array with a mask can't be imported; pass its data alone",
            ));
        }
        let dtype = of_typestr(&typestr)?;
        let strides = dict.get_item("strides")?.filter(|strides| !strides.is_none());
        if let Some(strides) = strides {
            let strides: Vec<i64> = strides.extract().map_err(wrong("strides"))?;
            check_dense(&shape, &strides, &typestr)?;
        }
        Ok(Self { address, is_read_only, dtype, shape })
    }

    /// Adopts the memory as a tensor, whose owner `owner` keeps the memory alive. If `after` is `None`, the tensor comes after
    /// all work that is queued on its stream now.
    pub(crate) fn adopt(
        &self,
        owner: &Bound<'_, PyAny>,
        stream: &Stream,
        after: Option<After<'_>>,
        on: u32,
    ) -> PyResult<Box<dyn AnyTensor>> {
        let (py, owner) = (owner.py(), Owner::new(owner));
        let too_large =
            || PyValueError::new_err(format!("the shape {:?} is too large", self.shape));
        let count = self.shape.iter().try_fold(1_usize, |count, dim| count.checked_mul(*dim));
        let count = count.ok_or_else(too_large)?;
        for_dtype!(self.dtype.as_str(), T => {
            let bytes = count.checked_mul(size_of::<T>()).ok_or_else(too_large)? as u64;
            // SAFETY: the object with the interface guarantees that the memory is valid while the object lives. `owner` keeps the
            // object, and the caller guarantees the order.
            let memory = unsafe { ForeignMemory::new(device(on), self.address, bytes, owner) };
            let (platform, shape) = (stream.platform(), &self.shape[..]);
            let adopt = |after: After<'_>| match self.is_read_only {
                true => platform.adopt_shared::<T>(memory, shape, after).map(Held::read_only),
                false => platform.adopt_tensor::<T>(memory, shape, after).map(Held::writable),
            };
            let adopted = match after {
                Some(after) => adopt(after),
                None => py.detach(|| stream.with(|_, own| adopt(After::QueuedOn(own)))),
            };
            adopted.or_raise()?
        })
    }
}

impl Interface {
    /// Copies the memory from the host to the device of a stream.
    pub(crate) fn upload(&self, py: Python<'_>, on: &Stream) -> PyResult<Box<dyn AnyTensor>> {
        let shape = Shape::new(&self.shape).or_raise()?;
        for_dtype!(self.dtype.as_str(), T => {
            let bytes = (shape.count() * size_of::<T>()) as u64;
            let alignment = align_of::<T>() as u64;
            let is_possible = self.address != 0
                && self.address.is_multiple_of(alignment)
                && self.address.checked_add(bytes).is_some_and(|end| end <= LAST_ADDRESS);
            if bytes > 0 && !is_possible {
                return Err(PyBufferError::new_err(format!(
                    "the memory at {:#x} can't hold the array, whose elements are aligned to {alignment} bytes; copy the \
                     array first, as by `numpy.array(array)`",
                    self.address
                )));
            }
            // SAFETY: the object with the interface guarantees that the memory is valid while the object lives, and the caller
            // holds the object during the call. The address was checked above.
            unsafe { upload::<T>(py, self.address, &shape, on) }?
        })
    }
}

/// Returns an error unless the strides, in bytes, are those of a dense array.
fn check_dense(shape: &[usize], strides: &[i64], typestr: &str) -> PyResult<()> {
    let item: usize = typestr.get(2..).and_then(|bytes| bytes.parse().ok()).unwrap_or(1);
    let mut expected = item;
    let is_empty = shape.contains(&0);
    let mut is_dense = shape.len() == strides.len();
    for (&dim, &stride) in shape.iter().zip(strides).rev() {
        is_dense &= is_empty || dim == 1 || stride == expected as i64;
        expected = expected.saturating_mul(dim.max(1));
    }
    if is_dense {
        return Ok(());
    }
    Err(PyBufferError::new_err(format!(
        "the array has strides of {strides:?} bytes, and is not dense; make it contiguous first, as by \
         `numpy.ascontiguousarray`"
    )))
}
