//! Messages that wait in a queue for many ticks, while their producer's stream uses each event of its ring again.
//!
//! `busy` sends in each tick, and reads the one message of `late`. `join` begins when `busy` has sent more messages
//! than a stream has events. `join` receives an old message of `busy`, from before `busy` read `late`'s message, and
//! then `late`'s message. Later records of `busy` come after `late`; the record of the old message does not.

use std::sync::{Arc, Mutex, PoisonError};

use streamflow::prelude::*;

use streamflow_tests::kernels::{slow_copy, slow_fill};

const LEN: usize = 1003;

/// The length of a slow kernel in cycles. It takes about 10 ms on a GPU, much longer than a launch.
const SLOW: u64 = 20_000_000;

/// The tick in which `late` sends its message.
const SENDS: u64 = 3;
/// The first tick in which `join` may run.
const JOINS: u64 = 24;
const TICKS: u64 = 30;
const VALUE: f32 = 42.0;

/// A download that `late` queues and `join` reads.
type SharedDownload = Arc<Mutex<Option<Download<f32>>>>;

#[operator(streams(work))]
struct Late {
    #[output]
    tick: u64,
    #[output]
    image: Tensor<f32>,
    #[output]
    go: u64,
    shared: SharedDownload,
}

impl Compute for Late {
    fn compute(&mut self, io: LateIo<'_>, cx: &ExecutionContext) -> Result<()> {
        if cx.tick() == SENDS {
            let stream = cx.allocate_cuda_stream(io.work)?;
            let mut image = cx.tensor([LEN], &stream)?;
            stream.launch::<slow_fill>(LEN, (&mut image, VALUE, SLOW))?;
            let download = cx.download(&image, &stream)?;
            *self.shared.lock().unwrap_or_else(PoisonError::into_inner) = Some(download);
            io.image.set_cuda_stream(&stream).emit(image)?;
        }
        if cx.tick() == JOINS {
            io.go.emit(cx.tick())?;
        }
        io.tick.emit(cx.tick())
    }
}

/// An operator that sends images full of the tick's number.
#[operator(streams(work))]
struct Numbers {
    #[output]
    image: Tensor<f32>,
}

impl Compute for Numbers {
    fn compute(&mut self, io: NumbersIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let stream = cx.allocate_cuda_stream(io.work)?;
        let mut image = cx.tensor([LEN], &stream)?;
        stream.launch::<slow_fill>(LEN, (&mut image, cx.tick() as f32, 0))?;
        io.image.set_cuda_stream(&stream).emit(image)
    }
}

#[operator]
struct Busy {
    #[input]
    tick: u64,
    #[input(optional)]
    image: &Tensor<f32>,
    #[input]
    own: &Tensor<f32>,
    #[output]
    out: Tensor<f32>,
}

impl Compute for Busy {
    fn compute(&mut self, io: BusyIo<'_>, cx: &ExecutionContext) -> Result<()> {
        io.tick.receive().into_data();
        let (own, stream) = io.own.receive().receive_cuda_stream(cx)?;
        let (image, _) = io.image.receive().receive_cuda_stream(cx)?;
        let mut out = cx.tensor([LEN], &stream)?;
        stream.launch::<slow_copy>(LEN, (&mut out, image.unwrap_or(own), 0))?;
        io.out.emit(out)
    }
}

/// An operator that waits on the host for the first messages of `busy`, from before `busy` reads the message of
/// `late`.
#[operator]
struct Look {
    #[input]
    image: &Tensor<f32>,
    seen: u64,
}

impl Compute for Look {
    fn compute(&mut self, io: LookIo<'_>, cx: &ExecutionContext) -> Result<()> {
        self.seen += 1;
        if self.seen > SENDS {
            io.image.discard();
            return Ok(());
        }
        let (image, stream) = io.image.receive().receive_cuda_stream(cx)?;
        cx.download(image, &stream)?.wait_blocking()?;
        Ok(())
    }
}

/// Whether `join` reads the message of `late`, or reads the old message and calls `try_get` on the download of
/// `late`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reads {
    Message,
    Download,
}

#[operator]
struct Join {
    #[input]
    old: &Tensor<f32>,
    #[input]
    image: &Tensor<f32>,
    #[input]
    go: u64,
    reads: Reads,
    shared: SharedDownload,
    seen: Vec<f32>,
}

impl Compute for Join {
    fn compute(&mut self, io: JoinIo<'_>, cx: &ExecutionContext) -> Result<()> {
        io.go.receive().into_data();
        let (old, stream) = io.old.receive().receive_cuda_stream(cx)?;
        let (image, _) = io.image.receive().receive_cuda_stream(cx)?;
        let mut out = cx.tensor([LEN], &stream)?;
        let copied = if self.reads == Reads::Message { image } else { old };
        stream.launch::<slow_copy>(LEN, (&mut out, copied, 0))?;
        let download = cx.download(&out, &stream)?;
        let found = download.wait_blocking()?;
        self.seen = match self.reads {
            Reads::Message => found.to_vec(),
            Reads::Download => {
                let shared = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
                let data = shared.as_ref().map(Download::try_get).transpose()?.flatten();
                // Data that is not complete yet is no error.
                data.map_or_else(|| vec![VALUE; LEN], <[f32]>::to_vec)
            }
        };
        Ok(())
    }
}

graph! {
    struct Joined(reads: Reads, shared: SharedDownload) {
        const STREAMS: CudaStreamPool = CudaStreamPool::new();
        #[streams(STREAMS)] #[when(count(TICKS))]
        let late: Late = Late::new(shared.clone());
        #[streams(STREAMS)] #[when(count(TICKS))]
        let numbers: Numbers = Numbers::new();
        #[streams(STREAMS)]
        let busy: Busy = Busy::new();
        #[streams(STREAMS)]
        let look: Look = Look::new(0);
        // The messages of `busy` that wait when `join` has ended are dropped.
        #[streams(STREAMS)] #[when(count(1))]
        let join: Join = Join::new(reads, shared.clone(), Vec::new());

        late.tick >> busy.tick;
        late.image >> busy.image;
        numbers.image >> busy.own;
        busy.out >> look.image;
        #[capacity(64)] busy.out >> join.old;
        #[capacity(8)] late.image >> join.image;
        late.go >> join.go;
    }
}

fn joined(platform: &Platform, reads: Reads) -> Result<bool> {
    let mut graph = Joined::new(platform, reads, SharedDownload::default())?;
    graph.run()?;
    Ok(graph.join().seen == [VALUE; LEN])
}

/// Returns whether the data is right if `join` reads the message of `late`.
pub(crate) fn received_with_a_late_one(platform: &Platform) -> Result<bool> {
    joined(platform, Reads::Message)
}

/// Returns whether an early `try_get` gives right data or none. `join` has received the message of `late`, and
/// the host has waited for the stream of `join`. Then `join` calls `try_get` on a download of `late` without
/// waiting for it.
pub(crate) fn with_an_early_look(platform: &Platform) -> Result<bool> {
    joined(platform, Reads::Download)
}
