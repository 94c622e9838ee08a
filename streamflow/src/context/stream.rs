//! Law 3: A stream belongs to its tick.
//!
//! The types of a hook's streams and of their names, and the type of a value that needs a stream and lives longer than a hook.
//! `context/streams.rs` allocates the streams.

use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;

use super::ExecutionContext;
use crate::driver::current;
use crate::error::{Error, Result};
use crate::stream::{CudaStream, PlatformNumber};

/// A stream of the operator, lent for one hook. It derefs to [`CudaStream`] for launches and copies. The
/// [table](crate::stream#the-types-of-streams) compares the types of streams.
///
/// Ports accept only this type, so an operator can't send a message on a stream that it owns itself. A `Stream` can't be stored
/// for a later tick, sent to another thread, or made from a number. For a value that lives longer than a tick and needs a stream,
/// use an [`OnStream`]. [`ExecutionContext::default_stream`] returns the default stream.
#[derive(Clone, Copy)]
pub struct Stream<'t> {
    stream: &'t CudaStream,
}

impl<'t> Stream<'t> {
    pub(super) fn new(stream: &'t CudaStream) -> Self {
        Self { stream }
    }
}

impl Deref for Stream<'_> {
    type Target = CudaStream;

    fn deref(&self) -> &CudaStream {
        self.stream
    }
}

impl fmt::Debug for Stream<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.stream.fmt(f)
    }
}

/// The name of a stream that the operator declares: `#[operator(streams(fill))]` adds the field `io.fill`, of this type. The
/// [table](crate::stream#the-types-of-streams) compares the types of streams.
#[derive(Debug, Clone, Copy)]
pub struct StreamName<'t> {
    index: usize,
    _tick: PhantomData<&'t ()>,
}

impl<'t> StreamName<'t> {
    #[doc(hidden)]
    pub fn new(_: &'t ExecutionContext, index: usize) -> Self {
        Self { index, _tick: PhantomData }
    }

    /// Returns the index of the stream in the operator's list of declared streams.
    pub(super) fn index(self) -> usize {
        self.index
    }
}

/// A value that lives longer than a tick and needs a stream, as a library's handle or plan. The value can be used only with the
/// stream for which it was made. [`ExecutionContext::on_stream`] makes such a value, best in
/// [`Compute::start`](crate::Compute::start).
///
/// ```
/// # use streamflow::context::OnStream;
/// # use streamflow::prelude::*;
/// # struct Plan;
/// # impl Plan {
/// #     fn new(_: u64) -> Result<Self> { Ok(Self) }
/// #     fn execute(&mut self, _: &mut Tensor<f32>) -> Result<()> { Ok(()) }
/// # }
/// #[operator(streams(work))]
/// struct Transform {
///     #[output] image: Tensor<f32>,
///     plan: Option<OnStream<Plan>>,
/// }
///
/// impl Compute for Transform {
///     fn start(&mut self, streams: TransformStreams<'_>, cx: &ExecutionContext) -> Result<()> {
///         let stream = cx.allocate_cuda_stream(streams.work)?;
///         self.plan = Some(cx.on_stream(&stream, |stream| Plan::new(stream.raw().handle()))?);
///         Ok(())
///     }
///
///     fn compute(&mut self, io: TransformIo<'_>, cx: &ExecutionContext) -> Result<()> {
///         let stream = cx.allocate_cuda_stream(io.work)?;
///         let mut image = cx.tensor([64], &stream)?;
///         if let Some(plan) = &mut self.plan {
///             plan.with(&stream, |plan| plan.execute(&mut image))??;
///         }
///         io.image.set_cuda_stream(&stream).emit(image)
///     }
/// }
/// ```
#[derive(Debug)]
pub struct OnStream<H> {
    /// The platform of the stream for which the value was made, and the stream's number.
    stream: (PlatformNumber, u32),
    value: H,
}

impl<H> OnStream<H> {
    /// Creates a value that can be used only with this stream.
    pub fn new(stream: &Stream<'_>, value: H) -> Self {
        stream.keep();
        Self { stream: id_of(stream), value }
    }

    /// Returns the value, for uses that need no stream.
    pub fn value(&self) -> &H {
        &self.value
    }

    /// Returns the value, so that code of the library can change the marks of memory in it.
    pub(crate) fn value_mut(&mut self) -> &mut H {
        &mut self.value
    }

    /// Makes another value for the same stream out of this one.
    pub fn map<R>(self, make: impl FnOnce(H) -> R) -> OnStream<R> {
        OnStream { stream: self.stream, value: make(self.value) }
    }

    /// Calls `use_it` with the value, with the stream's device current on this thread. `stream` must be the stream for which the
    /// value was made.
    ///
    /// # Errors
    /// [`Error::OtherStream`] if the value was made for another stream; errors of the driver.
    pub fn with<R>(&mut self, stream: &Stream<'_>, use_it: impl FnOnce(&mut H) -> R) -> Result<R> {
        let value = self.lend(stream)?;
        // Code in this hook, as the `Drop` of a value, may have made another device current.
        stream.timeline().bind()?;
        let _other = current::other_code();
        Ok(use_it(value))
    }

    /// Returns the value, if `stream` is the stream for which it was made. Unlike [`with`](Self::with), this method takes no
    /// closure, so it suits functions with `#[track_caller]`; and it does not make the stream's device current, which each
    /// [`Call`](crate::library::Call) does where needed.
    ///
    /// # Errors
    /// [`Error::OtherStream`] if the value was made for another stream.
    #[inline]
    pub fn lend(&mut self, stream: &Stream<'_>) -> Result<&mut H> {
        if self.stream == id_of(stream) {
            Ok(&mut self.value)
        } else {
            Err(self.other_stream(stream))
        }
    }

    #[cold]
    fn other_stream(&self, stream: &Stream<'_>) -> Error {
        let named = |number: u32| {
            let label = stream.table().timeline(number).label();
            format!("`{label}` (number {number})")
        };
        let ((platform, made_for), (own, used_on)) = (self.stream, id_of(stream));
        let made_for = if platform == own {
            named(made_for)
        } else {
            format!("number {made_for} of another platform")
        };
        Error::OtherStream { made_for, used_on: named(used_on) }
    }
}

#[inline]
pub(super) fn id_of(stream: &CudaStream) -> (PlatformNumber, u32) {
    (stream.timeline().platform(), stream.timeline().id())
}
