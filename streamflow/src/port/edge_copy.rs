//! Edges that copy: `#[copy]` on one device, `#[transfer]` from one device to another. The producer's `Outlet` makes
//! the copy when the message is emitted.

use crate::context::ExecutionContext;
use crate::driver::DeviceId;
use crate::error::{Error, Result};
use crate::memory::{Buffer, Element, Tensor};
use crate::message::{Device, HostData, Message, Metadata};
use crate::stream::{CudaStream, CudaStreamPool, Point};

/// A message, or a part of one, that can be copied. Device data is copied on a stream, into memory of that stream's device. Host
/// data needs no stream.
#[diagnostic::on_unimplemented(
    message = "`#[copy]` can't copy `{Self}`",
    label = "no copy of this message can be made",
    note = "tensors, buffers, host data that is `Clone`, and structs of them can be copied; for others insert an operator that makes the copy",
    note = "consumers that read the message with `&T` need no copy: declare their inputs so, and remove `#[copy]`"
)]
pub trait CopyPart: Sized {
    #[doc(hidden)]
    fn copy_on(&self, stream: Option<&CudaStream>, cx: &ExecutionContext) -> Result<Self>;
}

/// Returns the stream of a message with device data. The error never occurs: a message whose type has device data is sent on a
/// stream.
fn of_device_data<'a>(
    stream: Option<&'a CudaStream>,
    cx: &ExecutionContext,
) -> Result<&'a CudaStream> {
    stream.ok_or_else(|| Error::NoStream { node: cx.node().to_owned(), port: "#[copy]".to_owned() })
}

impl<T: Element> CopyPart for Buffer<T> {
    fn copy_on(&self, stream: Option<&CudaStream>, cx: &ExecutionContext) -> Result<Self> {
        let stream = of_device_data(stream, cx)?;
        let mut copy = cx.platform().buffer(self.len(), stream)?;
        stream.copy_peer(self, &mut copy)?;
        Ok(copy)
    }
}

impl<T: Element> CopyPart for Tensor<T> {
    fn copy_on(&self, stream: Option<&CudaStream>, cx: &ExecutionContext) -> Result<Self> {
        let stream = of_device_data(stream, cx)?;
        let mut copy = cx.platform().tensor(self.shape(), stream)?;
        stream.copy_peer(self, &mut copy)?;
        Ok(copy)
    }
}

impl<M: CopyPart> CopyPart for Vec<M> {
    fn copy_on(&self, stream: Option<&CudaStream>, cx: &ExecutionContext) -> Result<Self> {
        self.iter().map(|message| message.copy_on(stream, cx)).collect()
    }
}

macro_rules! copy_by_clone {
    ($([$($generics:tt)*] $ty:ty),*) => {$(
        // Without this attribute, rustc's error about a type that can't be copied would name this macro as its origin.
        #[diagnostic::do_not_recommend]
        impl<$($generics)*> CopyPart for $ty {
            fn copy_on(&self, _: Option<&CudaStream>, _: &ExecutionContext) -> Result<Self> {
                Ok(self.clone())
            }
        }
    )*};
}
copy_by_clone!([] (), [] bool, [] i8, [] u8, [] i16, [] u16, [] i32, [] u32, [] i64, [] u64);
copy_by_clone!([] isize, [] usize, [] f32, [] f64, [] String, [] crate::time::Timestamp, [] Metadata);
copy_by_clone!([T: Clone] HostData<T>);

impl<M: Fields<List: CopyFields>> CopyPart for M {
    fn copy_on(&self, stream: Option<&CudaStream>, cx: &ExecutionContext) -> Result<Self> {
        M::List::copy_on(self.field_refs(), stream, cx).map(M::from_fields)
    }
}

/// A struct or an enum with `#[derive(Message)]`, seen as a list of its fields. The derive implements this trait, so that an edge
/// can copy the message field by field.
#[diagnostic::on_unimplemented(
    message = "`#[copy]` can't copy `{Self}`",
    label = "the message is a `{Self}`, or has a field of this type, of which no copy can be made",
    note = "tensors, buffers, host data that is `Clone`, and structs of them can be copied; for others insert an operator that makes the copy",
    note = "consumers that read the message with `&T` need no copy: declare their inputs so, and remove `#[copy]`"
)]
pub trait Fields {
    /// The types of the message's fields, as a list.
    type List: FieldList;
    #[doc(hidden)]
    fn field_refs(&self) -> <Self::List as FieldList>::FieldRefs<'_>;
    #[doc(hidden)]
    fn from_fields(fields: Self::List) -> Self;
}

/// A list of the fields of a struct, as nested pairs, `(A, (B, ()))`; for an enum, [`Either`] of the lists of its variants.
pub trait FieldList {
    /// References to the fields of the list.
    type FieldRefs<'a>
    where
        Self: 'a;
}

impl FieldList for () {
    type FieldRefs<'a> = ();
}

impl<First, Rest: FieldList> FieldList for (First, Rest) {
    type FieldRefs<'a>
        = (&'a First, Rest::FieldRefs<'a>)
    where
        Self: 'a;
}

/// The fields of a variant of an enum: of the enum's first variant, or of a later variant.
#[derive(Debug)]
pub enum Either<First, Others> {
    /// The fields of the enum's first variant.
    This(First),
    /// The fields of a later variant.
    Other(Others),
}

/// The end of a list of variants: no value has this type, since no variant follows the last one.
#[derive(Debug)]
pub enum Neither {}

impl<First: FieldList, Others: FieldList> FieldList for Either<First, Others> {
    type FieldRefs<'a>
        = Either<First::FieldRefs<'a>, Others::FieldRefs<'a>>
    where
        Self: 'a;
}

impl FieldList for Neither {
    type FieldRefs<'a> = Self;
}

/// A list of fields each of which can be copied.
pub trait CopyFields: FieldList + Sized {
    #[doc(hidden)]
    fn copy_on(
        fields: Self::FieldRefs<'_>,
        stream: Option<&CudaStream>,
        cx: &ExecutionContext,
    ) -> Result<Self>;
}

impl CopyFields for () {
    fn copy_on(_: (), _: Option<&CudaStream>, _: &ExecutionContext) -> Result<Self> {
        Ok(())
    }
}

impl<First: CopyPart, Rest: CopyFields> CopyFields for (First, Rest) {
    fn copy_on(
        (first, rest): Self::FieldRefs<'_>,
        stream: Option<&CudaStream>,
        cx: &ExecutionContext,
    ) -> Result<Self> {
        Ok((first.copy_on(stream, cx)?, Rest::copy_on(rest, stream, cx)?))
    }
}

impl<First: CopyFields, Others: CopyFields> CopyFields for Either<First, Others> {
    fn copy_on(
        fields: Self::FieldRefs<'_>,
        stream: Option<&CudaStream>,
        cx: &ExecutionContext,
    ) -> Result<Self> {
        Ok(match fields {
            Either::This(fields) => Self::This(First::copy_on(fields, stream, cx)?),
            Either::Other(fields) => Self::Other(Others::copy_on(fields, stream, cx)?),
        })
    }
}

impl CopyFields for Neither {
    fn copy_on(fields: Self, _: Option<&CudaStream>, _: &ExecutionContext) -> Result<Self> {
        Ok(fields)
    }
}

/// Implemented for each message that `#[copy]` can copy.
#[diagnostic::on_unimplemented(
    message = "`#[copy]` can't copy `{Self}`",
    label = "no copy of this message can be made",
    note = "tensors, buffers, host data that is `Clone`, and structs of them can be copied; for others insert an operator that makes the copy"
)]
pub trait CopyOnEdge: CopyPart + Message {}

// For a struct that can't be copied, rustc follows this impl and reports the field that can't be copied.
impl<M: CopyPart + Message> CopyOnEdge for M {}

/// Implemented for each message that `#[transfer]` can copy to another device.
#[diagnostic::on_unimplemented(
    message = "`#[transfer]` can't copy `{Self}` to another device",
    label = "this message is not transferred",
    note = "host data goes to operators on any device as it is: remove `#[transfer]`",
    note = "tensors, buffers, and structs of them and of host data can be transferred"
)]
pub trait TransferOnEdge: CopyPart + Message {}

#[diagnostic::do_not_recommend]
impl<M: CopyPart + Message<Place = Device>> TransferOnEdge for M {}

/// A function that copies a message on a stream, to the device of that stream.
type CopyMessage<T> = fn(&T, Option<&CudaStream>, &ExecutionContext) -> Result<T>;

/// The copying on an edge: the function that copies a message, and for `#[transfer]` the target device.
pub(super) struct EdgeCopy<T> {
    copy: CopyMessage<T>,
    transfer: Option<Transfer>,
}

/// The target of copies to another device. The copies run on the edge's own stream of that device, so the producer's stream does
/// not wait for them. The copies are written into memory of the target device, where the consumer is.
struct Transfer {
    to: DeviceId,
    /// The edge's name, for errors and labels.
    edge: &'static str,
    /// The stream on which the edge copies, allocated when the first message is copied.
    stream: Option<CudaStream>,
}

impl<T: CopyPart> EdgeCopy<T> {
    /// Creates the copying of a `#[copy]` edge: it copies on the stream on which the producer sends the message.
    pub(super) fn on_sending_stream() -> Self {
        Self { copy: T::copy_on, transfer: None }
    }

    /// Creates the copying of a `#[transfer]` edge: it copies on a stream of the target device.
    pub(super) fn to(device: DeviceId, edge: &'static str) -> Self {
        let transfer = Some(Transfer { to: device, edge, stream: None });
        Self { copy: T::copy_on, transfer }
    }
}

impl<T> EdgeCopy<T> {
    /// Copies a message. `stream` is the stream on which the message is sent, `None` for host data. Returns the copy and the
    /// point at which the device data of the copy is ready.
    pub(super) fn make(
        &mut self,
        message: &T,
        stream: Option<&CudaStream>,
        cx: &ExecutionContext,
    ) -> Result<(T, Option<Point>)> {
        let (Some(transfer), Some(stream)) = (&mut self.transfer, stream) else {
            let copied = (self.copy)(message, stream, cx)?;
            return Ok((copied, stream.map(|stream| stream.timeline().open_point())));
        };
        let target = transfer.stream(cx)?;
        let copied = (self.copy)(message, Some(target), cx);
        let ready = target.timeline().open_point();
        // Record an event after each copy, so that a consumer's wait for this copy does not also wait for the next copy.
        let closed = target.timeline().close();
        // Make the producer's device current again on this thread, for the rest of the hook.
        stream.timeline().bind()?;
        closed?;
        Ok((copied?, Some(ready)))
    }

    /// Blocks the host until all copies on the stream of a `#[transfer]` edge are complete.
    pub(super) fn synchronize_blocking(&self) -> Result<()> {
        let stream = self.transfer.as_ref().and_then(|transfer| transfer.stream.as_ref());
        stream.map_or(Ok(()), CudaStream::synchronize_blocking)
    }
}

impl Transfer {
    fn stream(&mut self, cx: &ExecutionContext) -> Result<&CudaStream> {
        if self.stream.is_none() {
            let streams = CudaStreamPool::new().device(self.to).max_size(1);
            let pool = cx.platform().stream_pool(self.edge, &streams)?;
            self.stream = Some(pool.allocate(self.edge)?);
        }
        match &self.stream {
            Some(stream) => Ok(stream),
            None => unreachable!("the edge's stream was made just now"),
        }
    }
}
