//! Messages: the values that travel along edges. A [`Message`] is one payload (a tensor, a number, [`HostData`]) or
//! several named payloads in a struct with `#[derive(Message)]`. An input with several edges receives [`Many`] messages. The
//! type of a message says whether the message has device data, which a program can reach only through a stream. Each message
//! travels with [`Metadata`]: the acquisition time of its data, its sequence number (`stamp.rs`), and values that operators
//! add.
//!
//! On its edge a message is in an `Envelope` (`payload.rs`): the payload, its metadata, and the point at which its
//! device data is ready. The edge is a queue (`queue.rs`) with two ends. The consumer's end is in an `Inlet`
//! (`inlet.rs`), and the producer's end is in an `Outlet` (module `port`). The documentation of [`port`](crate::port)
//! follows a message from `emit` to the next `receive_cuda_stream`.

mod carried;
mod describe;
mod edges;
pub(crate) mod inlet;
mod joined;
mod metadata;
pub(crate) mod named;
pub(crate) mod owners;
pub(crate) mod payload;
pub(crate) mod payloads;
pub(crate) mod place;
pub(crate) mod queue;
pub(crate) mod receive;
mod stamp;
mod value;
pub(crate) mod visit;

pub use describe::{Description, Part};
pub(crate) use inlet::{Handled, Inlet, InputState};
pub use metadata::Metadata;
pub use named::TensorMap;
pub(crate) use named::{FromTensors, Tensors};
pub(crate) use owners::{Form, Owned, Reads, Several, Shares, Sole, Takes};
pub(crate) use payload::Payload;
pub(crate) use payloads::HostData;
pub(crate) use place::{CarriesStream, Place, Plain};
pub use place::{Device, Host};
pub use queue::QueuePolicy;
pub(crate) use queue::{EdgeOptions, EdgeStatus};
pub(crate) use receive::Many;
pub(crate) use receive::{Receive, ReceiveEach};
pub(crate) use stamp::Mark;
pub(crate) use travels::Message;
pub use value::Value;
pub(crate) use visit::MemoryVisitor;

pub(crate) use carried::Carried;
pub(crate) use edges::Edges;
pub(crate) use joined::{Input, Pair};
pub(crate) use payload::Envelope;
pub(crate) use queue::{Receiver, Sender};
pub(crate) use stamp::Origin;
pub(crate) use visit::{order, ready_point, report_port};

/// The trait of the types that travel along edges.
pub(crate) mod travels {
    use super::{
        Description, FromTensors, MemoryVisitor, Owned, Payload, Place, Receive, ReceiveEach,
        Tensors,
    };

    /// A type that can travel along an edge.
    ///
    /// Derive this trait for structs whose fields are messages, and for enums whose variants have such fields: a message
    /// that is one of several alternatives, for example a tensor or a video buffer. An enum has device data if one of its
    /// variants has device data. `bool`, numbers, `String`, tensors and buffers are messages, and so is a `Vec` of messages;
    /// the guide has [all types](crate::guide::reading_sharing_taking#which-types-are-messages). Wrap any other value that
    /// is only for the host in a [`HostData`](crate::HostData). A message borrows nothing and may move between threads.
    /// An operator that is generic in the message it takes has the bound
    /// `M: Message + for<'t> Receive<'t, Message = M>`.
    ///
    /// ```
    /// use streamflow::prelude::*;
    ///
    /// /// A text, a list of tensors, or nothing.
    /// #[derive(Message)]
    /// enum Part {
    ///     Title(String),
    ///     Tiles { tiles: Vec<Tensor<f32>> },
    ///     Nothing,
    /// }
    ///
    /// #[operator(streams(work))]
    /// struct Parts {
    ///     #[output] part: Part,
    /// }
    ///
    /// impl Compute for Parts {
    ///     fn compute(&mut self, io: PartsIo<'_>, cx: &ExecutionContext) -> Result<()> {
    ///         let stream = cx.allocate_cuda_stream(io.work)?;
    ///         let part = match cx.tick() {
    ///             0 => Part::Title("tiles".to_owned()),
    ///             1 => Part::Tiles { tiles: vec![cx.tensor([4, 4], &stream)?, cx.tensor([2, 2], &stream)?] },
    ///             _ => Part::Nothing,
    ///         };
    ///         io.part.set_cuda_stream(&stream).emit(part)
    ///     }
    /// }
    ///
    /// #[operator]
    /// struct Show {
    ///     #[input] part: &Part,
    ///     seen: Vec<String>,
    /// }
    ///
    /// impl Compute for Show {
    ///     fn compute(&mut self, io: ShowIo<'_>, cx: &ExecutionContext) -> Result<()> {
    ///         // One of the variants has device data, so the stream comes before each of them.
    ///         let (part, _stream) = io.part.receive().receive_cuda_stream(cx)?;
    ///         self.seen.push(match part {
    ///             Part::Title(title) => title.clone(),
    ///             Part::Tiles { tiles } => format!("{:?}", tiles.iter().map(|tile| tile.len()).collect::<Vec<_>>()),
    ///             Part::Nothing => "nothing".to_owned(),
    ///         });
    ///         Ok(())
    ///     }
    /// }
    ///
    /// graph! {
    ///     struct Shown {
    ///         #[when(count(3))] let parts: Parts = Parts::new();
    ///         let show: Show = Show::new(Vec::new());
    ///         parts.part >> show.part;
    ///     }
    /// }
    ///
    /// # fn main() -> Result<()> {
    /// let mut graph = Shown::new(&Platform::host().build()?)?;
    /// graph.run()?;
    /// assert_eq!(graph.show().seen, ["tiles", "[16, 4]", "nothing"]);
    /// # Ok(())
    /// # }
    /// ```
    #[diagnostic::on_unimplemented(
        message = "`{Self}` is not a message",
        label = "this type can't travel along an edge",
        note = "put `#[derive(Message)]` on its definition if its fields are messages, or wrap host data in `HostData<_>`",
        note = "an input that reads its message has the `&` at the port, as `&Tensor<f32>`, and not in a type alias"
    )]
    pub trait Message: Send + Sync + 'static {
        /// Whether the message has device data: `Host` or `Device`.
        type Place: Place;
        /// The type that the consumer receives: this type itself, or the type in a [`Shared`](crate::Shared).
        type Item: Message;
        /// How many owners the message may have when it is sent: [`Sole`](super::Sole), or [`Several`](super::Several)
        /// for a [`Shared`](crate::Shared).
        type Owners: Owned;
        /// The message type itself, as the type of an input. The macros use this item instead of the type, so that rustc
        /// reports a type that is no message only once, and not again as the type of an input.
        #[doc(hidden)]
        type __Own: for<'t> Receive<'t, Message = Self::Item> + for<'t> ReceiveEach<'t>;

        /// Whether the message may have a [`Download`](crate::Download). The condition `host_done` waits for downloads.
        #[doc(hidden)]
        const __STREAMFLOW_HAS_DOWNLOADS: bool = false;

        /// Describes the message's payloads: names, types, shapes and devices.
        #[doc(hidden)]
        fn __streamflow_describe(&self, describe: &mut Description) {
            describe.value(std::any::type_name::<Self>(), None);
        }

        /// Adds the message's tensors to `to`.
        #[doc(hidden)]
        fn __streamflow_tensors<'a>(&'a self, to: &mut Tensors<'a>) {
            let _ = to;
        }

        /// Makes a message of this type from named tensors.
        #[doc(hidden)]
        fn __streamflow_from_tensors(from: &mut FromTensors<'_>) -> crate::error::Result<Self>
        where
            Self: Sized,
        {
            Err(from.no_tensor::<Self>())
        }

        /// The message's tensors by name, for code that finds the tensors at run time, for example a binding to another
        /// language. An operator in Rust uses the fields of the message.
        fn tensors(&self) -> Tensors<'_>
        where
            Self: Sized,
        {
            let mut tensors = Tensors::default();
            self.__streamflow_tensors(&mut tensors);
            tensors
        }

        /// Passes all device memory and downloads of the message to `visit`.
        fn memory(&self, visit: &mut MemoryVisitor<'_>);

        /// Converts the message to the form in which it travels along an edge.
        fn into_payload(self) -> Payload<Self::Item>;
    }
}
