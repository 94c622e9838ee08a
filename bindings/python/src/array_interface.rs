//! NumPy's array interface, version 3, for host memory.

use pyo3::exceptions::{PyBufferError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use streamflow::Element;
use streamflow::device;
use streamflow::memory::{After, ForeignMemory, Shape, Strides};

use crate::dtype::{for_dtype, of_typestr, typestr};
use crate::error::OrRaise;
use crate::held::{AnyTensor, Held};
use crate::owner::Owner;
use crate::stream::Stream;
use crate::tensor::Tensor;
use crate::upload::{span, upload};

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
    interface.set_item("strides", strides(py, held)?)?;
    Ok(interface)
}

/// Returns the entry "strides" of an interface: the strides in bytes if there is padding between the rows, or else None.
pub(crate) fn strides<'py>(
    py: Python<'py>,
    held: &dyn AnyTensor,
) -> PyResult<Option<Bound<'py, PyTuple>>> {
    let bytes = || held.strides().into_iter().map(|stride| stride * held.item_size());
    held.is_padded().then(|| PyTuple::new(py, bytes().collect::<Vec<_>>())).transpose()
}

/// The entries of the dictionary of an array interface: NumPy's or CUDA's.
#[derive(Debug)]
pub(crate) struct Interface {
    pub(crate) address: u64,
    pub(crate) is_read_only: bool,
    pub(crate) dtype: String,
    pub(crate) shape: Vec<usize>,
    /// The strides, in bytes; `None` for a dense array.
    strides: Option<Vec<i64>>,
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
        let strides = strides.map(|strides| strides.extract().map_err(wrong("strides")));
        Ok(Self { address, is_read_only, dtype, shape, strides: strides.transpose()? })
    }

    /// The shape and the strides in elements, after the check that the array is dense or has dense rows at one distance.
    fn layout<T: Element>(&self) -> PyResult<(Shape, Strides)> {
        let too_large =
            || PyValueError::new_err(format!("the shape {:?} is too large", self.shape));
        let count = self.shape.iter().try_fold(1_usize, |count, dim| count.checked_mul(*dim));
        count.and_then(|count| count.checked_mul(size_of::<T>())).ok_or_else(too_large)?;
        let shape = Shape::new(&self.shape).or_raise()?;
        let mut next = size_of::<T>() as i64;
        let mut dense: Vec<i64> = Vec::new();
        for &len in self.shape.iter().rev() {
            dense.insert(0, next);
            next = next.saturating_mul(len.max(1) as i64);
        }
        let strides = self.strides.as_ref().unwrap_or(&dense);
        let strides = shape.padded_strides::<T>(strides).or_raise()?;
        Ok((shape, strides))
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
        for_dtype!(self.dtype.as_str(), T => {
            let (shape, strides) = self.layout::<T>()?;
            let len = span(&shape, &strides);
            let bytes = (len * size_of::<T>()) as u64;
            // SAFETY: the object with the interface guarantees that the memory is valid while the object lives. `owner` keeps the
            // object, and the caller guarantees the order.
            let memory = unsafe { ForeignMemory::new(device(on), self.address, bytes, owner) };
            let (platform, is_padded) = (stream.platform(), len > shape.count());
            let padded = self.strides.as_deref().filter(|_| is_padded);
            let adopt = |after: After<'_>| match (padded, self.is_read_only) {
                (None, true) => platform.adopt_shared::<T>(memory, shape, after).map(Held::read_only),
                (None, false) => platform.adopt_tensor::<T>(memory, shape, after).map(Held::writable),
                (Some(strides), true) => platform
                    .adopt_pitched_shared::<T>(memory, shape, strides, after)
                    .map(Held::read_only),
                (Some(strides), false) => {
                    platform.adopt_pitched::<T>(memory, shape, strides, after).map(Held::writable)
                }
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
        for_dtype!(self.dtype.as_str(), T => {
            let (shape, strides) = self.layout::<T>()?;
            let bytes = (span(&shape, &strides) * size_of::<T>()) as u64;
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
            unsafe { upload::<T>(py, self.address, (&shape, &strides), on) }?
        })
    }
}
