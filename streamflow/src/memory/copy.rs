//! Copies and fills on streams, ordered by what they touch.

use std::iter;
use std::panic::Location;

use super::access::{self, Order, Use};
use super::{
    Block, Buffer, DeviceSlice, Download, Element, Pinned, PinnedPools, Shape, Shared, Tensor,
    View, ViewMut,
};
use crate::driver::{AccessMode, CopyKind, CopyOp, MemoryRange, Note};
use crate::error::{Error, Result};
use crate::stream::CudaStream;

impl CudaStream {
    /// Queues a copy of page-locked host memory to the device. Does not block. [`Pinned`] shows a source that
    /// uploads what it reads.
    ///
    /// # Errors
    /// [`Error::LengthMismatch`]; the driver's.
    #[track_caller]
    pub fn upload<T: Element>(
        &self,
        source: &Pinned<T>,
        target: &mut DeviceSlice<T>,
    ) -> Result<()> {
        same_length("upload", source.len(), target.len())?;
        let source = Side::tracked(source.block(), source.range());
        let target = Side::tracked(target.block(), target.range());
        self.copy_between(CopyKind::PinnedToDevice, source, target)
    }

    /// Copies ordinary host memory to the device. Blocks until the host memory may be changed.
    ///
    /// # Errors
    /// [`Error::LengthMismatch`]; the driver's.
    #[track_caller]
    pub fn upload_blocking<T: Element>(
        &self,
        source: &[T],
        target: &mut DeviceSlice<T>,
    ) -> Result<()> {
        same_length("upload", source.len(), target.len())?;
        let range =
            MemoryRange { address: source.as_ptr() as u64, bytes: size_of_val(source) as u64 };
        let target = Side::tracked(target.block(), target.range());
        self.copy_between(CopyKind::PageableToDevice, Side::host(range), target)
    }

    /// Queues a copy within the device. Does not block.
    ///
    /// # Errors
    /// [`Error::LengthMismatch`]; the driver's.
    #[track_caller]
    pub fn copy<T: Element>(
        &self,
        source: &DeviceSlice<T>,
        target: &mut DeviceSlice<T>,
    ) -> Result<()> {
        same_length("copy", source.len(), target.len())?;
        let source = Side::tracked(source.block(), source.range());
        let target = Side::tracked(target.block(), target.range());
        self.copy_between(CopyKind::DeviceToDevice, source, target)
    }

    /// Queues a copy of another device's memory to this stream's device: a peer copy, direct where the
    /// hardware can. Does not block. `source` may be on this device, too.
    ///
    /// # Errors
    /// [`Error::LengthMismatch`]; [`Error::WrongDevice`] when `target` is on another device than this
    /// stream; the driver's.
    #[track_caller]
    pub fn copy_peer<T: Element>(
        &self,
        source: &DeviceSlice<T>,
        target: &mut DeviceSlice<T>,
    ) -> Result<()> {
        let from = source.block().device();
        if from == self.device() {
            return self.copy(source, target);
        }
        same_length("copy", source.len(), target.len())?;
        let source = Side { peer: true, ..Side::tracked(source.block(), source.range()) };
        let target = Side::tracked(target.block(), target.range());
        self.copy_between(CopyKind::Peer { from, to: self.device() }, source, target)
    }

    /// Queues a copy to the host, after all writes to `source`, on any stream. Does not block. The [`Download`] that it
    /// returns is read when the copy is complete.
    ///
    /// ```
    /// # use streamflow::prelude::*;
    /// # fn main() -> Result<()> {
    /// let platform = Platform::detect()?;
    /// let stream = platform.stream_pool("POOL", &CudaStreamPool::new())?.allocate("main")?;
    /// let table = platform.upload(&[1.0_f32, 2.0, 3.0])?;
    /// let download = stream.download(&table)?;
    /// assert_eq!(download.wait_blocking()?, [1.0, 2.0, 3.0]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Error::WrongDevice`], [`Error::ForeignPlatform`]; the driver's.
    #[track_caller]
    pub fn download<T: Element>(
        &self,
        source: &(impl Downloadable<T> + ?Sized),
    ) -> Result<Download<T>> {
        // The choice of the memory may make the stream wait.
        self.timeline().ready()?;
        let (elements, shape) = (source.elements(), source.shape());
        let pool = PinnedPools::of(self);
        let mut pinned = Pinned::for_stream(&pool, self, &Shape::of_slice(elements.len()))?;
        self.download_into(elements, &mut pinned)?;
        // The host will wait for the download, and must not wait for later work.
        self.timeline().close()?;
        Ok(Download::new(pinned, &shape))
    }

    /// Queues a copy to page-locked host memory. Does not block; `target` can't be read before it
    /// is complete.
    ///
    /// # Errors
    /// [`Error::LengthMismatch`]; the driver's.
    #[track_caller]
    pub fn download_into<T: Element>(
        &self,
        source: &DeviceSlice<T>,
        target: &mut Pinned<T>,
    ) -> Result<()> {
        same_length("download", source.len(), target.len())?;
        let source = Side::tracked(source.block(), source.range());
        let target = Side::tracked(target.block(), target.range());
        self.copy_between(CopyKind::DeviceToPinned, source, target)
    }

    /// Copies to ordinary host memory. Blocks until the copy is complete.
    ///
    /// # Errors
    /// The driver's; an error of earlier work may be reported here.
    #[track_caller]
    pub fn download_blocking<T: Element>(&self, source: &DeviceSlice<T>) -> Result<Vec<T>> {
        let mut target = vec![T::default(); source.len()];
        self.download_to_blocking(source, &mut target)?;
        Ok(target)
    }

    /// As [`download_blocking`](Self::download_blocking), into memory of the same length.
    #[track_caller]
    pub(super) fn download_to_blocking<T: Element>(
        &self,
        source: &DeviceSlice<T>,
        target: &mut [T],
    ) -> Result<()> {
        same_length("download", source.len(), target.len())?;
        let range =
            MemoryRange { address: target.as_mut_ptr() as u64, bytes: size_of_val(target) as u64 };
        let source = Side::tracked(source.block(), source.range());
        self.copy_between(CopyKind::DeviceToPageable, source, Side::host(range))?;
        self.table().inspect(self.device())
    }

    /// Queues setting every byte of `target` to `byte`. Does not block.
    ///
    /// # Errors
    /// The driver's.
    #[track_caller]
    pub fn fill_bytes<T: Element>(&self, target: &mut DeviceSlice<T>, byte: u8) -> Result<()> {
        self.timeline().ready()?;
        let using = Use::new(target.block(), AccessMode::Write, "the memory to fill");
        access::queue(self, Order::ByData, iter::once(using), || {
            if target.is_empty() {
                return Ok(());
            }
            self.table().tell(&Note::At(Location::caller()));
            let timeline = self.timeline();
            // SAFETY: the range lies in a block that is alive; it is freed only after the use that
            // is noted.
            unsafe { timeline.driver().fill(timeline.raw(), target.range(), byte) }
        })?
        .map_err(Error::from)
    }

    #[track_caller]
    fn copy_between(&self, kind: CopyKind, source: Side<'_>, target: Side<'_>) -> Result<()> {
        self.timeline().ready()?;
        let uses = [source.using(AccessMode::Read), target.using(AccessMode::Write)];
        let copy = CopyOp { kind, target: target.range, source: source.range };
        let location = Location::caller();
        access::queue(self, Order::ByData, uses.into_iter().flatten(), || {
            if copy.source.bytes == 0 {
                return Ok(());
            }
            self.table().tell(&Note::At(location));
            let timeline = self.timeline();
            // SAFETY: both ranges have the same length, checked by the callers, and are alive: device and
            // page-locked blocks are freed or reused only after the uses that are noted; ordinary host memory
            // is borrowed for the call, and such copies return only when they are done with it.
            unsafe { timeline.driver().copy(timeline.raw(), &copy) }
        })?
        .map_err(Error::from)
    }
}

/// A type that can be downloaded: memory of a device with a shape.
pub trait Downloadable<T: Element> {
    /// The elements.
    fn elements(&self) -> &DeviceSlice<T>;
    /// Their shape.
    fn shape(&self) -> Shape;
}

impl<T: Element> Downloadable<T> for Tensor<T> {
    fn elements(&self) -> &DeviceSlice<T> {
        self
    }

    fn shape(&self) -> Shape {
        *self.block().shape()
    }
}

// Emitted messages, and messages with several readers, are shared.
impl<T: Element, D: Downloadable<T>> Downloadable<T> for Shared<D> {
    fn elements(&self) -> &DeviceSlice<T> {
        (**self).elements()
    }

    fn shape(&self) -> Shape {
        (**self).shape()
    }
}

macro_rules! downloadable {
    ($($ty:ty),*) => {$(
        impl<T: Element> Downloadable<T> for $ty {
            fn elements(&self) -> &DeviceSlice<T> {
                self
            }

            fn shape(&self) -> Shape {
                Shape::of_slice(self.len())
            }
        }
    )*};
}
// So that a buffer can be passed directly, like a tensor.
downloadable!(DeviceSlice<T>, Buffer<T>, View<'_, T>, ViewMut<'_, T>);

/// One side of a copy.
struct Side<'a> {
    /// `None` for ordinary host memory: such copies block the host.
    block: Option<&'a Block>,
    range: MemoryRange,
    /// It may be on another device than the stream.
    peer: bool,
}

impl<'a> Side<'a> {
    fn tracked(block: &'a Block, range: MemoryRange) -> Self {
        Self { block: Some(block), range, peer: false }
    }

    fn host(range: MemoryRange) -> Self {
        Self { block: None, range, peer: false }
    }

    fn using(&self, mode: AccessMode) -> Option<Use<'a>> {
        let block = self.block?;
        Some(if self.peer {
            Use::peer(block, mode)
        } else {
            Use::new(block, mode, "memory to copy")
        })
    }
}

fn same_length(what: &'static str, source_len: usize, target_len: usize) -> Result<()> {
    if source_len == target_len {
        Ok(())
    } else {
        Err(Error::LengthMismatch { what, source_len, target_len })
    }
}
