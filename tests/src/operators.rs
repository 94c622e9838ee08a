//! Operators and messages in all forms that the macros support.
#![deny(missing_docs, missing_debug_implementations, reason = "the macros generate both")]

use crate::kernels::{add_one, axpy, fill};
use streamflow::port::Receive;
use streamflow::prelude::*;
use streamflow::time::Timestamp;

/// A source that makes tensors on its own stream.
#[operator(streams(fill, spare))]
#[derive(Debug)]
pub struct Source {
    /// The tensor, `a | b`.
    /// Each tick has another value.
    ///
    /// More text, which is not in the table.
    #[output]
    image: Tensor<f32>,
    len: usize,
    /// Whether `start` was called.
    #[cfg(debug_assertions)]
    started: bool,
    #[cfg(not(debug_assertions))]
    started: bool,
}

impl Compute for Source {
    fn start(&mut self, streams: SourceStreams<'_>, cx: &ExecutionContext) -> Result<()> {
        cx.allocate_cuda_stream(streams.fill)?.synchronize_blocking()?;
        self.started = true;
        Ok(())
    }

    fn compute(&mut self, io: SourceIo<'_>, cx: &ExecutionContext) -> Result<()> {
        assert!(self.started, "`compute` was called before `start`");
        let stream = cx.allocate_cuda_stream(io.fill)?;
        let mut image = cx.tensor([self.len], &stream)?;
        stream.launch::<fill>(self.len, (&mut image, cx.tick() as f32))?;
        io.image.set_cuda_stream(&stream).emit(image)
    }
}

/// Takes one input's tensor and writes it in place; reads the other input.
#[operator]
#[derive(Debug)]
pub struct InPlace {
    #[input]
    data: Tensor<f32>,
    #[input]
    added: &streamflow::Tensor<f32>,
    #[output]
    out: Tensor<f32>,
}

impl Compute for InPlace {
    fn compute(
        &mut self,
        InPlaceIo { data, added, out }: InPlaceIo<'_>,
        cx: &ExecutionContext,
    ) -> Result<()> {
        let (mut data, stream) = data.receive().receive_cuda_stream(cx)?;
        let (added, _) = added.receive().receive_cuda_stream(cx)?;
        let mut sum = cx.tensor([data.len()], &stream)?;
        stream.launch::<add_one>(data.len(), (&mut data,))?;
        stream.launch::<axpy<f32>>(data.len(), (&mut sum, 1.0, &data, added))?;
        out.emit(sum)
    }
}

/// Keeps its shared message for the next tick, and emits the message of the previous tick.
#[operator]
#[derive(Debug)]
pub struct Delay {
    #[input]
    now: Shared<Tensor<f32>>,
    #[output]
    before: Shared<Tensor<f32>>,
    kept: Option<Shared<Tensor<f32>>>,
}

impl Compute for Delay {
    fn compute(&mut self, io: DelayIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (now, _) = io.now.receive().receive_cuda_stream(cx)?;
        match self.kept.replace(now) {
            Some(before) => io.before.emit(before),
            None => Ok(()),
        }
    }
}

/// An operator with host data only. Its ports' names are keywords, or could collide with generated names.
#[operator]
#[derive(Debug)]
pub struct Names {
    #[input]
    io: &u64,
    #[input]
    ports: u64,
    #[input]
    in_1: &u64,
    #[input(optional)]
    in1: Shared<u64>,
    #[output]
    r#type: u64,
    #[output]
    streams: u64,
}

impl Compute for Names {
    fn compute(&mut self, io: NamesIo<'_>, _: &ExecutionContext) -> Result<()> {
        let sum = io.io.receive().into_data() + io.ports.receive().into_data();
        io.r#type.emit(sum + io.in_1.receive().into_data())?;
        match io.in1.receive().into_data() {
            Some(shared) => io.streams.emit(sum + *shared),
            None => Ok(()),
        }
    }
}

/// Calls a function. The type parameter occurs in the operator's state, and not in its ports.
#[operator]
#[allow(missing_debug_implementations, reason = "a function does not implement Debug")]
pub struct Apply<F: Fn(f32) -> f32 + Send + 'static, const N: usize> {
    #[input(optional)]
    x: &HostData<[f32; N]>,
    #[output]
    y: HostData<[f32; N]>,
    f: F,
}

impl<F: Fn(f32) -> f32 + Send + 'static, const N: usize> Compute for Apply<F, N> {
    fn compute(&mut self, io: ApplyIo<'_, N>, _: &ExecutionContext) -> Result<()> {
        match io.x.receive().into_data() {
            Some(HostData(x)) => io.y.emit(HostData(x.map(&self.f))),
            None => Ok(()),
        }
    }
}

/// An operator with type parameters that occur only in its ports, a default, a where clause, and a handwritten
/// constructor.
#[operator(no_new, streams(copy))]
#[derive(Debug)]
pub struct Pass<M, E = f32>
where
    M: Message + for<'t> Receive<'t, Message = M>,
    E: Element,
{
    #[input]
    one: M,
    #[input]
    other: &Tensor<E>,
    #[output]
    out: Pair<M, u8>,
    #[output]
    len: u64,
}

impl<M, E> Pass<M, E>
where
    M: Message + for<'t> Receive<'t, Message = M>,
    E: Element,
{
    /// The handwritten constructor.
    pub fn by_hand() -> Self {
        Self { __streamflow_ports: std::marker::PhantomData }
    }
}

impl<M, E> Compute for Pass<M, E>
where
    M: Message<Place = streamflow::message::Host> + for<'t> Receive<'t, Message = M>,
    E: Element,
{
    fn compute(&mut self, io: Self::Io<'_>, cx: &ExecutionContext) -> Result<()> {
        let (other, _) = io.other.receive().receive_cuda_stream(cx)?;
        io.len.emit(other.len() as u64)?;
        io.out.emit(Pair(io.one.receive().into_data(), 7))
    }
}

/// A generic message with two fields.
#[derive(Debug, Message)]
pub struct Pair<A, B>(pub A, pub B);

/// A message with device data and host data.
#[derive(Debug, Message)]
pub struct Detections<T: Element = f32> {
    /// The corners of the boxes.
    pub boxes: Tensor<T>,
    /// One score per box.
    pub scores: Tensor<f32>,
    /// When the image was taken.
    pub taken_at: Timestamp,
}

/// A message without data.
#[derive(Debug, Message)]
pub struct Trigger;

/// Packs a message with several fields.
#[operator]
#[derive(Debug)]
pub struct Pack {
    #[input]
    boxes: Tensor<i32>,
    #[input]
    scores: Tensor<f32>,
    #[input]
    when: &Trigger,
    #[output]
    packed: Detections<i32>,
}

impl Compute for Pack {
    fn compute(&mut self, io: PackIo<'_>, cx: &ExecutionContext) -> Result<()> {
        io.when.discard();
        let (boxes, _) = io.boxes.receive().receive_cuda_stream(cx)?;
        let (scores, _) = io.scores.receive().receive_cuda_stream(cx)?;
        io.packed.emit(Detections { boxes, scores, taken_at: Timestamp(5) })
    }
}

/// Reads a message with several fields.
#[operator]
#[derive(Debug)]
pub struct Unpack {
    #[input]
    packed: &Detections<i32>,
    #[output]
    scores: Download<f32>,
}

impl Compute for Unpack {
    fn compute(&mut self, io: UnpackIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let packed = io.packed.receive();
        assert_eq!(packed.streams().flatten().count(), 1);
        let (packed, stream) = packed.receive_cuda_stream(cx)?;
        assert_eq!((packed.boxes.len(), packed.taken_at), (2, Timestamp(5)));
        io.scores.emit(cx.download(&packed.scores, &stream)?)
    }
}

macro_rules! operator_of {
    ($name:ident, $port:ident: $ty:ty) => {
        /// An operator that a `macro_rules!` macro makes.
        #[operator]
        #[derive(Debug)]
        pub struct $name {
            #[input]
            $port: &$ty,
            #[input]
            whole: $ty,
        }

        impl Compute for $name {
            fn compute(&mut self, io: Self::Io<'_>, _: &ExecutionContext) -> Result<()> {
                io.$port.discard();
                io.whole.leave();
                Ok(())
            }
        }
    };
}

operator_of!(OfMacro, text: Vec<String>);
