//! Copies of device memory in ordinary host memory, for libraries that work on the host.
//!
//! These copies belong to no pool, because a pool of a GPU has no host memory, and page-locked memory is too scarce for
//! arrays that a program keeps. So the structure's deleter frees the copy at once.

use super::abi::{self, Abi};
use super::exported::{Content, Keeper, dtype_of, make};
use super::{DlDevice, DlExport};
use crate::error::Result;
use crate::memory::border::counts::{self, Count};
use crate::memory::{CopySource, Element};
use crate::stream::CudaStream;

/// The alignment in bytes that DLPack requires. A library may copy memory that has a smaller alignment.
const ALIGNMENT: usize = 256;

/// [`ALIGNMENT`] bytes, aligned to [`ALIGNMENT`].
#[derive(Clone, Copy)]
#[repr(C, align(256))]
struct Line([u8; ALIGNMENT]);

/// Host memory that a structure of DLPack owns. This memory counts as [lent](crate::memory::ForeignCounts::lent).
pub(super) struct HostCopy {
    lines: Vec<Line>,
    bytes: usize,
}

impl HostCopy {
    /// Allocates this number of bytes, filled with zeros.
    fn new(bytes: usize) -> Self {
        counts::add(Count::Lent);
        Self { lines: vec![Line([0; ALIGNMENT]); bytes.div_ceil(ALIGNMENT)], bytes }
    }

    fn elements_mut<T: Element>(&mut self) -> &mut [T] {
        let len = self.bytes / size_of::<T>();
        let start = self.lines.as_mut_ptr().cast::<T>();
        // SAFETY: the lines have at least this number of bytes, all of them initialised; their alignment is larger than
        // that of any element, and every content is a valid element.
        unsafe { std::slice::from_raw_parts_mut(start, len) }
    }

    /// The address of the first byte; 0 if there are no bytes.
    fn address(&self) -> u64 {
        if self.bytes == 0 { 0 } else { self.lines.as_ptr().expose_provenance() as u64 }
    }
}

impl Keeper for HostCopy {
    /// Frees the memory, because `self` is dropped here.
    fn give_back(self) {}
}

impl Drop for HostCopy {
    fn drop(&mut self) {
        counts::remove(Count::Lent);
    }
}

impl CudaStream {
    /// Copies `source` to new, ordinary host memory for another library. The device of the structure is the CPU, and the
    /// structure has DLPack's flag for copies. Blocks until the copy is complete. The deleter frees the memory.
    ///
    /// # Errors
    /// [`Error::Exchange`](crate::Error::Exchange) for a type that DLPack does not have; the driver's.
    #[track_caller]
    pub fn download_dlpack_blocking<T: Element>(
        &self,
        source: &(impl CopySource<T> + ?Sized),
        abi: Abi,
    ) -> Result<DlExport> {
        let dtype = dtype_of::<T>()?;
        let source = source.copy_source();
        let mut copy = HostCopy::new(size_of::<T>() * source.len());
        self.download_to_blocking(&source, copy.elements_mut())?;
        let (address, device) = (copy.address(), DlDevice { kind: DlDevice::CPU, id: 0 });
        let flags = abi::IS_COPIED;
        let (shape, content) =
            (source.dims(), Content { address, device, dtype, flags, keeper: copy });
        make(&shape, &shape.dense_strides(), abi, content)
    }
}
