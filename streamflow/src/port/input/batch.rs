//! `receive_batch`: several messages of one edge in one tick.

use std::marker::PhantomData;

use super::{In, Received, Unreceived};
use crate::message::{Many, ReceiveEach};

impl<'t, A: ReceiveEach<'t>, S> In<'t, A, S> {
    /// Takes messages that wait in the queue, the oldest first: at most `at_most`, and like [`receive`](Self::receive) at least
    /// one. The remaining messages wait for a later tick. The operator gets the messages as [`Many`], in the order in which they
    /// were sent. The method is for required inputs with one producer; `#[input(many)]` is for several producers.
    ///
    /// The edge must have the capacity for `at_most` messages: `#[capacity(8)]`. If its capacity is smaller, the tick fails with
    /// [`Error::BatchTooLarge`](crate::Error::BatchTooLarge). In this example a batch has 8 messages, or those that have come
    /// within 50 ms:
    ///
    /// ```
    /// use streamflow::time::Clock;
    /// use streamflow::prelude::*;
    ///
    /// # #[operator]
    /// # struct Camera {
    /// #     #[output]
    /// #     frame: u64,
    /// # }
    /// # impl Compute for Camera {
    /// #     fn compute(&mut self, io: CameraIo<'_>, cx: &ExecutionContext) -> Result<()> { io.frame.emit(cx.tick()) }
    /// # }
    /// #[operator]
    /// struct Detect {
    ///     #[input]
    ///     frames: u64,
    ///     batches: Vec<Vec<u64>>,
    /// }
    ///
    /// impl Compute for Detect {
    ///     fn compute(&mut self, io: DetectIo<'_>, _: &ExecutionContext) -> Result<()> {
    ///         self.batches.push(io.frames.receive_batch(8).into_data().collect());
    ///         Ok(())
    ///     }
    /// }
    ///
    /// graph! {
    ///     struct Detection {
    ///         #[when(count(20), periodic(5ms))]
    ///         let camera: Camera = Camera::new();
    ///         #[when(any(message_available(frames, 8), expiring(frames, 50ms)))]
    ///         let detect: Detect = Detect::new(Vec::new());
    ///         #[capacity(8)]
    ///         camera.frame >> detect.frames;
    ///     }
    /// }
    ///
    /// # fn main() -> Result<()> {
    /// let platform = Platform::builder().clock(&Clock::simulated()).host()?;
    /// let mut graph = Detection::new(&platform)?;
    /// graph.run()?;
    /// let sizes: Vec<_> = graph.detect().batches.iter().map(Vec::len).collect();
    /// assert_eq!(sizes, [8, 8, 4]); // the last four have waited for 50 ms
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// Device data comes with one stream, which waits for the data of all messages of the batch:
    ///
    /// ```
    /// # use streamflow::prelude::*;
    /// #[operator(streams(work))]
    /// struct Stack {
    ///     #[input]
    ///     x: &Tensor<f32>,
    ///     #[output]
    ///     lengths: HostData<Vec<usize>>,
    /// }
    ///
    /// impl Compute for Stack {
    ///     fn compute(&mut self, io: StackIo<'_>, cx: &ExecutionContext) -> Result<()> {
    ///         let (batch, stream) = io.x.receive_batch(4).receive_cuda_stream(cx)?;
    ///         // `stream` may launch kernels on each tensor.
    ///         # let _ = &stream;
    ///         io.lengths.emit(HostData(batch.map(|x| x.len()).collect()))
    ///     }
    /// }
    /// ```
    ///
    /// [`metadata`](Self::metadata) returns the metadata of the batch's first message. The messages that the tick emits get the
    /// same metadata. If each message needs its own number, put the number into the message: a struct with `#[derive(Message)]`
    /// and the fields `number` and `image`.
    ///
    /// The condition `stream_done` waits for the data of the oldest message alone, and `host_done` for the downloads in that
    /// message. The first batch of a size allocates host memory for its messages; later batches of this size allocate nothing.
    pub fn receive_batch(self, at_most: usize) -> In<'t, Many<'t, A>, Received>
    where
        S: Unreceived,
    {
        self.inlet.receive_batch(at_most);
        self.inlet.note(self.cx.carried());
        In { inlet: self.inlet, cx: self.cx, _state: PhantomData }
    }
}
