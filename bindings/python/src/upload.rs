//! Copies of host memory on a device.

use pyo3::prelude::*;
use streamflow::Element;
use streamflow::memory::Shape;
use streamflow::memory::dlpack::{DlDevice, DlTensor};

use crate::dtype::for_dtype;
use crate::error::OrRaise;
use crate::held::{AnyTensor, Held};
use crate::stream::{Queue, Stream};
use crate::unseen::come_after_everything;

/// Copies a tensor of another library in host memory to the device of a stream. Afterwards the host memory may be
/// changed. `is_page_locked` is the library's own statement, beside that of the structure.
pub(crate) fn upload_dlpack(
    py: Python<'_>,
    tensor: &DlTensor,
    on: &Stream,
    is_page_locked: bool,
) -> PyResult<Box<dyn AnyTensor>> {
    if is_page_locked || tensor.device().kind == DlDevice::CUDA_HOST {
        // DLPack has no stream for it, and a copy to it may be queued.
        let after = Stream(py.detach(|| Queue::make(on.platform(), on.index())).or_raise()?);
        come_after_everything(py, &after)?;
        after.wait_until_complete(py)?;
    }
    let dtype = tensor.dtype().to_string();
    for_dtype!(dtype.as_str(), T => {
        let shape = tensor.dense_shape::<T>().or_raise()?;
        // SAFETY: the exporter vouches for the memory until its deleter is called, and only the drop of the structure
        // calls it. The address was checked with the shape. Memory on the host is complete when it is exported; the
        // work on page-locked memory was waited for above.
        unsafe { upload::<T>(py, tensor.address(), &shape, on) }?
    })
}

/// Copies dense host memory to the device of a stream. The calling thread waits for the copy, and not for work on the
/// stream.
///
/// # Safety
/// The memory at the address has the elements, is aligned for them, and lives during the call.
pub(crate) unsafe fn upload<T: Element>(
    py: Python<'_>,
    address: u64,
    shape: &Shape,
    on: &Stream,
) -> PyResult<Box<dyn AnyTensor>> {
    let first = match shape.count() {
        0 => std::ptr::NonNull::<T>::dangling().as_ptr().cast_const(),
        _ => std::ptr::with_exposed_provenance::<T>(address as usize),
    };
    // SAFETY: as the caller says; every content is valid for an element. A program that writes the array meanwhile races on
    // its numbers, as with two NumPy arrays of one memory.
    let elements = unsafe { std::slice::from_raw_parts(first, shape.count()) };
    let uploaded = py.detach(|| {
        // On a stream that no other thread uses meanwhile.
        let copies = Queue::make(on.platform(), on.index())?;
        copies.with(|platform, stream| {
            let mut tensor = platform.tensor::<T>(shape.dims(), stream)?;
            stream.upload_blocking(elements, &mut tensor)?;
            // Later uses of the stream do not concern the tensor.
            stream.record()?;
            Ok(tensor)
        })
    });
    Ok(Held::writable(uploaded.or_raise()?))
}
