//! Allocators: pools of device memory with limits of their own. A program passes an allocator to the operators that use it.

use std::fmt;
use std::sync::Arc;

use super::pooled::PoolHandle;
use super::{
    Buffer, Element, IntoShape, MemoryAmount, MemoryLimits, MemoryOptions, MemoryPool, Tensor,
};
use crate::driver::{DeviceId, Listeners};
use crate::error::{Error, Result};
use crate::stream::{CudaStream, StreamTable};

/// A pool of device memory with [limits](MemoryLimits) of its own: Holoscan's `Allocator`. Made by
/// [`Platform::allocator`](crate::Platform::allocator). An operator that uses an allocator keeps a clone, which is
/// another handle of the same allocator.
///
/// The tensors and buffers of an allocator have the same types as those of the platform, and may outlive the allocator.
///
/// # In a graph
/// An operator has the allocator as a field. The expression of the operator's node makes the allocator: in that
/// expression `platform` is the graph's platform, and `?` may be used.
///
/// ```
/// use streamflow::memory::{Allocator, MemoryLimits};
/// use streamflow::prelude::*;
///
/// /// data[i] = value
/// #[kernel(unsafe cuda = "unsigned long long i = thread_index(); if (i < data_len) data[i] = value;")]
/// fn fill(data: &mut [f32], value: f32) {
///     data.fill(value);
/// }
///
/// /// out[i] = weight * a[i] + (1 - weight) * b[i]
/// #[kernel(
///     unsafe cuda = "
///         unsigned long long i = thread_index();
///         if (i < out_len) out[i] = weight * a[i] + (1.0f - weight) * b[i];
///     ",
///     requires(a.len() == out.len(), b.len() == out.len())
/// )]
/// fn mix(out: &mut [f32], a: &[f32], b: &[f32], weight: f32) {
///     for (out, (a, b)) in out.iter_mut().zip(a.iter().zip(b)) {
///         *out = weight * a + (1.0 - weight) * b;
///     }
/// }
///
/// /// Images of one value, with memory of the platform.
/// #[operator(streams(work))]
/// struct Source {
///     #[output] image: Tensor<f32>,
///     len: usize,
///     value: f32,
/// }
///
/// impl Compute for Source {
///     fn compute(&mut self, io: SourceIo<'_>, cx: &ExecutionContext) -> Result<()> {
///         let stream = cx.allocate_cuda_stream(io.work)?;
///         let mut image = cx.tensor([self.len], &stream)?;
///         stream.launch::<fill>(self.len, (&mut image, self.value))?;
///         io.image.set_cuda_stream(&stream).emit(image)
///     }
/// }
///
/// /// Blends two images, in blocks of its own.
/// #[operator]
/// struct Blend {
///     #[input] a: &Tensor<f32>,
///     #[input] b: &Tensor<f32>,
///     #[output] out: Tensor<f32>,
///     weight: f32,
///     memory: Allocator,
/// }
///
/// impl Compute for Blend {
///     fn compute(&mut self, io: BlendIo<'_>, cx: &ExecutionContext) -> Result<()> {
///         let (a, stream) = io.a.receive().receive_cuda_stream(cx)?;
///         let (b, _) = io.b.receive().receive_cuda_stream(cx)?;
///         let mut out = self.memory.tensor(a.shape(), &stream)?; // not `cx.tensor`
///         stream.launch::<mix>(out.len(), (&mut out, a, b, self.weight))?;
///         io.out.emit(out)
///     }
/// }
///
/// /// Keeps the first value of each image.
/// #[operator]
/// struct Keep {
///     #[input] image: &Tensor<f32>,
///     seen: Vec<f32>,
/// }
///
/// impl Compute for Keep {
///     fn compute(&mut self, io: KeepIo<'_>, cx: &ExecutionContext) -> Result<()> {
///         let (image, stream) = io.image.receive().receive_cuda_stream(cx)?;
///         self.seen.extend(cx.download(image, &stream)?.wait_blocking()?.first());
///         Ok(())
///     }
/// }
///
/// /// Four blocks, each for one image of 1000 values.
/// const BLENDED: MemoryLimits = MemoryLimits::blocks(4 * 1000, 4);
///
/// graph! {
///     struct Blended(count: u64) {
///         #[when(count(count))] let dark: Source = Source::new(1000, 0.0);
///         #[when(count(count))] let light: Source = Source::new(1000, 4.0);
///         let blend: Blend = Blend::new(0.25, platform.allocator("BLENDED", device(0), BLENDED)?);
///         let keep: Keep = Keep::new(Vec::new());
///         dark.image >> blend.a;
///         light.image >> blend.b;
///         blend.out >> keep.image;
///     }
/// }
///
/// # fn main() -> Result<()> {
/// let mut graph = Blended::new(&Platform::detect()?, 2)?;
/// graph.run()?;
/// assert_eq!(graph.keep().seen, [3.0, 3.0]);
/// # Ok(())
/// # }
/// ```
///
/// To share an allocator between operators, make it before the graph, and pass it to the graph as a parameter, of which
/// each node gets a clone.
#[derive(Clone)]
pub struct Allocator(Arc<PoolHandle<MemoryPool>>);

impl Allocator {
    pub(crate) fn new(
        table: &Arc<StreamTable>,
        device: DeviceId,
        options: MemoryOptions,
        name: &str,
        limits: MemoryLimits,
    ) -> Result<Self> {
        if let Some(problem) = limits.problem(name) {
            let (pool, problem) = (name.to_owned(), problem.into_text());
            return Err(Error::PoolDescription { pool, problem });
        }
        Ok(Self(Arc::new(MemoryPool::limited(table, device, options, name, limits)?)))
    }

    /// Makes a tensor on the stream's device, like [`Platform::tensor`](crate::Platform::tensor).
    ///
    /// # Errors
    /// [`Error::BlocksExhausted`], [`Error::BlockSize`], [`Error::MemoryExhausted`];
    /// [`Error::WrongDevice`] for a stream of another device; [`Error::Shape`]; [`Error::OutOfMemory`] when the
    /// device's memory is exhausted; the driver's.
    #[track_caller]
    pub fn tensor<T: Element>(
        &self,
        shape: impl IntoShape,
        stream: &CudaStream,
    ) -> Result<Tensor<T>> {
        self.check(stream)?;
        Tensor::new(&self.0, stream, &shape.into_shape()?)
    }

    /// Makes a buffer on the stream's device, like [`tensor`](Self::tensor).
    ///
    /// # Errors
    /// As for [`tensor`](Self::tensor).
    #[track_caller]
    pub fn buffer<T: Element>(&self, len: usize, stream: &CudaStream) -> Result<Buffer<T>> {
        self.check(stream)?;
        Buffer::new(&self.0, stream, &len.into_shape()?)
    }

    /// The name that the allocator was made with.
    pub fn name(&self) -> &str {
        self.0.name()
    }

    /// The device of the allocator's memory.
    pub fn device(&self) -> DeviceId {
        self.0.device()
    }

    /// The bytes in use: those of the allocator's tensors and buffers that are not dropped yet. Sizes are rounded up: with a
    /// [`max_size`](MemoryLimits::max_size) to a multiple of 512 bytes, in a block pool to the block size, and else to one of
    /// eight sizes for each power of two, by less than 2 MiB.
    pub fn used(&self) -> u64 {
        self.0.used()
    }

    /// The bytes that the allocator has from its device, in use or free; at least the initial size. Holoscan's
    /// `pool_size`.
    pub fn reserved(&self) -> u64 {
        self.0.reserved()
    }

    /// The number of sizes for which the allocator has a list of free blocks of this stream.
    #[cfg(test)]
    pub(super) fn size_lists(&self, stream: &CudaStream) -> usize {
        self.0.lock().free_of(stream.timeline().id()).largest_first().count()
    }

    /// Whether a thread holds the pool's mutex `releasing`, because it is releasing free blocks.
    #[cfg(all(test, not(loom)))]
    pub(super) fn is_releasing(&self) -> bool {
        self.0.releasing.try_lock().is_err()
    }

    /// Whether the allocator can allocate this amount of memory in addition to the memory in use.
    pub(crate) fn has_free(&self, amount: MemoryAmount) -> bool {
        self.0.limits.has_free(self.0.used(), amount)
    }

    /// The reason why this amount of memory will never be free, with the remedy. `None` if this amount can become free.
    pub(crate) fn reason_for_never(&self, amount: MemoryAmount) -> Option<String> {
        self.0.limits.reason_for_never(amount, self.name())
    }

    /// The schedulers that are woken when memory of this allocator is returned.
    pub(crate) fn listeners(&self) -> &Listeners {
        self.0.listeners()
    }

    fn check(&self, stream: &CudaStream) -> Result<()> {
        if stream.table().platform() != self.0.platform() {
            return Err(Error::foreign(&self.description()));
        }
        if stream.device() != self.device() {
            return Err(Error::WrongDevice {
                what: self.description(),
                memory: self.device(),
                stream: stream.device(),
            });
        }
        Ok(())
    }

    /// The name of this allocator in error texts.
    fn description(&self) -> String {
        format!("allocator `{}`", self.name())
    }
}

impl fmt::Debug for Allocator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Allocator")
            .field("name", &self.name())
            .field("device", &self.device())
            .finish_non_exhaustive()
    }
}
