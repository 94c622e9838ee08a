//! Copies host memory of other libraries to a device.

use pyo3::prelude::*;
use streamflow::Element;
use streamflow::memory::dlpack::{DlDevice, DlTensor};
use streamflow::memory::{Shape, Strides};

use crate::dtype::for_dtype;
use crate::error::OrRaise;
use crate::held::{AnyTensor, Held};
use crate::stream::{Queue, Stream};
use crate::unseen::come_after_everything;

/// Copies another library's tensor in host memory to the device of a stream. The host memory may be changed afterwards.
/// `is_page_locked` is true if the library says so elsewhere than in the DLPack structure.
pub(crate) fn upload_dlpack(
    py: Python<'_>,
    tensor: &DlTensor,
    on: &Stream,
    is_page_locked: bool,
) -> PyResult<Box<dyn AnyTensor>> {
    if is_page_locked || tensor.device().kind == DlDevice::CUDA_HOST {
        // DLPack names no stream for page-locked memory, and a copy to this memory may still be queued.
        let after = Stream(py.detach(|| Queue::make(on.platform(), on.index())).or_raise()?);
        come_after_everything(py, &after)?;
        after.wait_until_complete(py)?;
    }
    let dtype = tensor.dtype().to_string();
    for_dtype!(dtype.as_str(), T => {
        let (shape, strides) = tensor.padded_shape::<T>().or_raise()?;
        // SAFETY: the exporter guarantees that the memory is valid until its deleter is called, and only the drop of the
        // structure calls the deleter. The address was checked with the shape. Memory on the host is complete when it is
        // exported; for page-locked memory, all work of the device was waited for above.
        unsafe { upload::<T>(py, tensor.address(), (&shape, &strides), on) }?
    })
}

/// How many elements there are from the first to the last of an array of this shape with these strides, with the padding between
/// its rows.
pub(crate) fn span(shape: &Shape, strides: &Strides) -> usize {
    if shape.count() == 0 {
        return 0;
    }
    1 + shape
        .dims()
        .iter()
        .zip(strides.iter())
        .map(|(len, stride)| (len - 1) * stride)
        .sum::<usize>()
}

/// Copies host memory, whose rows may be padded, to dense memory of a stream's device. The strides are in elements. The calling
/// thread waits for the copy, but not for earlier work on the stream.
///
/// # Safety
/// The memory at this address holds the elements with the padding between them, is aligned for them, and is valid during the
/// call.
pub(crate) unsafe fn upload<T: Element>(
    py: Python<'_>,
    address: u64,
    (shape, strides): (&Shape, &Strides),
    on: &Stream,
) -> PyResult<Box<dyn AnyTensor>> {
    let len = span(shape, strides);
    let first = match len {
        0 => std::ptr::NonNull::<T>::dangling().as_ptr().cast_const(),
        _ => std::ptr::with_exposed_provenance::<T>(address as usize),
    };
    // SAFETY: the caller guarantees that the memory is valid, and every content is a valid element. A program that writes the
    // array at the same time has a race on its numbers, as with two NumPy arrays of the same memory.
    let elements = unsafe { std::slice::from_raw_parts(first, len) };
    let uploaded = py.detach(|| {
        // The copy is queued on a new stream, because no other thread uses a new stream at the same time.
        let copies = Queue::make(on.platform(), on.index())?;
        copies.with(|platform, stream| {
            let mut tensor = platform.tensor::<T>(shape.dims(), stream)?;
            stream.upload_rows_blocking(elements, strides, &mut tensor)?;
            // The record covers the copy, so that the tensor need not wait for later work on this stream.
            stream.record()?;
            Ok(tensor)
        })
    });
    Ok(Held::writable(uploaded.or_raise()?))
}
