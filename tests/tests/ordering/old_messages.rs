//! Messages that wait in a queue for many ticks, while the stream that sent them goes round its ring of events.
//!
//! `busy` sends in each tick, and reads what `late` sends once. `join` begins when `busy` has sent more messages than a
//! stream has events: it receives an old one of them, from before `busy` has read `late`'s message, and then that message.
//! Later records of `busy` come after `late`; the one of the old message does not.

use std::sync::{Arc, Mutex, PoisonError};

use streamflow::prelude::*;

use streamflow_tests::kernels::{slow_copy, slow_fill};

const LEN: usize = 1003;

/// Long against a launch; about 10 ms on a GPU.
const SLOW: u64 = 20_000_000;

/// The tick in which `late` sends, and the one in which `join` may begin.
const SENDS: u64 = 3;
const JOINS: u64 = 24;
const TICKS: u64 = 30;
const VALUE: f32 = 42.0;

/// A download that an operator leaves to another one.
type Left = Arc<Mutex<Option<Download<f32>>>>;

#[operator(streams(work))]
struct Late {
    #[output]
    tick: u64,
    #[output]
    image: Tensor<f32>,
    #[output]
    go: u64,
    left: Left,
}

impl Compute for Late {
    fn compute(&mut self, io: LateIo<'_>, cx: &ExecutionContext) -> Result<()> {
        if cx.tick() == SENDS {
            let stream = cx.allocate_cuda_stream(io.work)?;
            let mut image = cx.tensor([LEN], &stream)?;
            stream.launch::<slow_fill>(LEN, (&mut image, VALUE, SLOW))?;
            let download = cx.download(&image, &stream)?;
            *self.left.lock().unwrap_or_else(PoisonError::into_inner) = Some(download);
            io.image.set_cuda_stream(&stream).emit(image)?;
        }
        if cx.tick() == JOINS {
            io.go.emit(cx.tick())?;
        }
        io.tick.emit(cx.tick())
    }
}

/// Images of the tick's number.
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

/// Waits on the host for the first messages of `busy`, from before it reads `late`'s.
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

/// Whether `join` reads `late`'s message, or waits for something else and looks at `late`'s download.
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
    left: Left,
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
                let left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
                let left = left.as_ref().map(Download::try_get).transpose()?.flatten();
                // Not yet is right as well.
                left.map_or_else(|| vec![VALUE; LEN], <[f32]>::to_vec)
            }
        };
        Ok(())
    }
}

graph! {
    struct Joined(reads: Reads, left: Left) {
        const STREAMS: CudaStreamPool = CudaStreamPool::new();
        #[streams(STREAMS)] #[when(count(TICKS))]
        let late: Late = Late::new(left.clone());
        #[streams(STREAMS)] #[when(count(TICKS))]
        let numbers: Numbers = Numbers::new();
        #[streams(STREAMS)]
        let busy: Busy = Busy::new();
        #[streams(STREAMS)]
        let look: Look = Look::new(0);
        #[streams(STREAMS)]
        let join: Join = Join::new(reads, left.clone(), Vec::new());

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
    let mut graph = Joined::new(platform, reads, Left::default())?;
    graph.run()?;
    Ok(graph.join().seen == [VALUE; LEN])
}

/// `join` reads `late`'s message. Whether the data was right.
pub(crate) fn beside_a_late_one(platform: &Platform) -> Result<bool> {
    joined(platform, Reads::Message)
}

/// `join` has received `late`'s message and waits on the host for its own stream; then it looks at a download of `late`,
/// which it did not wait for. Whether the data was right, or not there yet.
pub(crate) fn and_an_early_look(platform: &Platform) -> Result<bool> {
    joined(platform, Reads::Download)
}
