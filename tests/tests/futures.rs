//! The ports of a graph as a `Sink` and a `Stream` of asynchronous code.

mod allocations;
mod ends;
mod explored;
mod lost;
mod polls;
mod wakers;

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use futures_core::Stream;
use futures_sink::Sink;
use streamflow::operators::futures::{FromSink, IntoStream, PortSink, PortStream};
use streamflow::prelude::*;
use streamflow_driver::driver::Signal;
use streamflow_tests::kernels::{add_one, fill};
use streamflow_tests::{Failed, Suite};

pub(crate) fn suite() -> Suite {
    let parts: [fn(Suite) -> Suite; 6] = [
        polls::add_to,
        ends::add_to,
        lost::add_to,
        wakers::add_to,
        explored::add_to,
        allocations::add_to,
    ];
    parts.into_iter().fold(Suite::new(), |suite, add_to| add_to(suite))
}

/// An operator that adds one to each number on the device, and fails at a given number.
#[operator(streams(work))]
pub(crate) struct AddOne {
    #[input]
    number: u64,
    #[output]
    more: Download<f32>,
    fails_at: u64,
}

impl Compute for AddOne {
    fn compute(&mut self, io: AddOneIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let number = io.number.receive().into_data();
        if number == self.fails_at {
            return Err(Failure::msg(format!("the number {number}")));
        }
        let stream = cx.allocate_cuda_stream(io.work)?;
        let mut data = cx.tensor([1], &stream)?;
        stream.launch::<fill>(1, (&mut data, number as f32))?;
        stream.launch::<add_one>(1, (&mut data,))?;
        io.more.emit(cx.download(&data, &stream)?)
    }
}

graph! {
    /// A graph that adds one to a task's numbers on the device, and downloads them.
    pub(crate) struct Service(
        numbers: FromSink<u64>,
        sums: IntoStream<Download<f32>>,
        fails_at: u64,
    ) {
        const STREAMS: CudaStreamPool = CudaStreamPool::new().max_size(2);

        #[when(condition(numbers.arrived()))]
        let numbers: FromSink<u64> = numbers;
        #[streams(STREAMS)]
        let add: AddOne = AddOne::new(fails_at);
        #[when(condition(sums.has_room()))]
        let sums: IntoStream<Download<f32>> = sums;
        numbers.message >> add.number;
        add.more >> sums.message;
    }
}

graph! {
    /// A graph that sends a task's numbers back unchanged.
    pub(crate) struct Copies(numbers: FromSink<u64>, copies: IntoStream<u64>) {
        #[when(condition(numbers.arrived()))]
        let numbers: FromSink<u64> = numbers;
        #[when(condition(copies.has_room()))]
        let copies: IntoStream<u64> = copies;
        numbers.message >> copies.message;
    }
}

/// The ends of a graph that a task holds: a sink, and a stream.
pub(crate) type Ends = (PortSink<u64>, PortStream<Download<f32>>);

/// Returns a graph that fails at a given number, and the ends that its task holds.
pub(crate) fn service(
    platform: &Platform,
    capacity: usize,
    fails_at: u64,
) -> Result<(Service, Ends)> {
    let ((from, sink), (to, stream)) =
        (FromSink::channel(capacity)?, IntoStream::channel(capacity)?);
    Ok((Service::new(platform, from, to, fails_at)?, (sink, stream)))
}

/// A waker that counts its wakes, and wakes a thread that blocks on it.
#[derive(Default)]
pub(crate) struct Wakes {
    count: AtomicUsize,
    signal: Signal,
}

impl Wake for Wakes {
    fn wake(self: Arc<Self>) {
        self.count.fetch_add(1, Ordering::SeqCst);
        self.signal.raise();
    }
}

/// A task that a test polls by hand.
pub(crate) struct Task {
    wakes: Arc<Wakes>,
    waker: Waker,
}

impl Task {
    pub(crate) fn new() -> Self {
        let wakes = Arc::new(Wakes::default());
        Self { waker: wakes.clone().into(), wakes }
    }

    /// Returns how often the task was woken.
    pub(crate) fn wakes(&self) -> usize {
        self.wakes.count.load(Ordering::SeqCst)
    }

    pub(crate) fn context(&self) -> Context<'_> {
        Context::from_waker(&self.waker)
    }

    pub(crate) fn ready<S: Sink<M, Error = Error> + Unpin, M>(
        &self,
        sink: &mut S,
    ) -> Poll<Result<(), Error>> {
        Pin::new(sink).poll_ready(&mut self.context())
    }

    pub(crate) fn flush<S: Sink<M, Error = Error> + Unpin, M>(
        &self,
        sink: &mut S,
    ) -> Poll<Result<(), Error>> {
        Pin::new(sink).poll_flush(&mut self.context())
    }

    pub(crate) fn close<S: Sink<M, Error = Error> + Unpin, M>(
        &self,
        sink: &mut S,
    ) -> Poll<Result<(), Error>> {
        Pin::new(sink).poll_close(&mut self.context())
    }

    pub(crate) fn next<S: Stream + Unpin>(&self, stream: &mut S) -> Poll<Option<S::Item>> {
        Pin::new(stream).poll_next(&mut self.context())
    }

    /// Polls until there is an answer, and blocks until the task is woken between two polls. A lost wake-up makes an
    /// explored test fail.
    pub(crate) fn block_on<R>(&self, mut poll: impl FnMut(&Self) -> Poll<R>) -> Result<R> {
        loop {
            let seen = self.wakes.signal.raised();
            if let Poll::Ready(result) = poll(self) {
                return Ok(result);
            }
            if !self.wakes.signal.sleep(seen, Duration::from_secs(3600)) {
                return Err(Failure::msg("a task sleeps, and no thread is left to wake it"));
            }
        }
    }

    /// Blocks until a run has ended.
    pub(crate) fn end(&self, ended: &mut (impl Future<Output = ()> + Unpin)) -> Result<()> {
        self.block_on(|task| Pin::new(&mut *ended).poll(&mut task.context()))
    }

    /// Blocks until the sink has room, and sends a number.
    pub(crate) fn send(&self, sink: &mut PortSink<u64>, number: u64) -> Result<()> {
        self.block_on(|task| task.ready(sink))??;
        Ok(Pin::new(sink).start_send(number)?)
    }

    /// Returns all that is left of a stream, and whether the stream ended without an error.
    pub(crate) fn rest(&self, stream: &mut PortStream<Download<f32>>) -> Result<(Vec<f32>, bool)> {
        let mut values = Vec::new();
        loop {
            match self.block_on(|task| task.next(stream))? {
                Some(Ok(download)) => values.extend_from_slice(download.wait_blocking()?),
                Some(Err(Error::StreamCut)) => {
                    let after = self.block_on(|task| task.next(stream))?;
                    return if after.is_none() {
                        Ok((values, false))
                    } else {
                        Err(Failure::msg("a message after the end"))
                    };
                }
                Some(Err(error)) => return Err(error.into()),
                None => return Ok((values, true)),
            }
        }
    }
}

/// Sends a number to a sink that has room for it.
pub(crate) fn put(sink: &mut PortSink<u64>, number: u64) -> Result<(), Failed> {
    Ok(Pin::new(sink).start_send(number)?)
}
