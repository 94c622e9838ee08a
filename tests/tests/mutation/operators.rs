//! The operators of the graphs. A source sends another value in each tick, so that data of a wrong tick is wrong.

use streamflow::prelude::*;
use streamflow_tests::layers::mutate::{AddOne, Axpy, Fill, SlowCopy};

use super::libraries::Plans;
use super::plan::{self, LATE_BY, LEN, Origin, Reading, SHAPE, UnaryWork};

#[operator(streams(fill))]
pub(crate) struct Source {
    #[output]
    out: Tensor<f32>,
    origin: Origin,
    node: usize,
}

impl Compute for Source {
    fn compute(&mut self, io: SourceIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let stream = match self.origin {
            Origin::Default => cx.default_stream()?,
            _ => cx.allocate_cuda_stream(io.fill)?,
        };
        let mut out = cx.tensor(SHAPE, &stream)?;
        let value = plan::Plan::source_value(self.node, cx.tick());
        if self.origin == Origin::Upload {
            let mut pinned = cx.pinned(LEN)?;
            pinned.as_mut_slice_blocking()?.fill(value);
            stream.upload(&pinned, &mut out)?;
        } else {
            stream.launch::<Fill>(LEN, (&mut out, value))?;
        }
        io.out.set_cuda_stream(&stream).emit(out)
    }
}

#[operator(streams(extra))]
pub(crate) struct Unary {
    #[input]
    src: &Tensor<f32>,
    #[output]
    out: Tensor<f32>,
    work: UnaryWork,
    scratch: Option<Tensor<f32>>,
    plans: Plans,
}

impl Compute for Unary {
    fn compute(&mut self, io: UnaryIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (src, stream) = io.src.receive().receive_cuda_stream(cx)?;
        if self.work == UnaryWork::Scratch {
            let extra = cx.allocate_cuda_stream(io.extra)?;
            let scratch = match &mut self.scratch {
                Some(scratch) => scratch,
                none => none.insert(cx.tensor(SHAPE, &stream)?),
            };
            let mut out = cx.tensor(SHAPE, &extra)?;
            stream.launch::<SlowCopy>(LEN, (scratch, src, 0))?;
            extra.launch::<SlowCopy>(LEN, (&mut out, scratch, 0))?;
            extra.launch::<AddOne>(LEN, (&mut out,))?;
            return io.out.set_cuda_stream(&extra).emit(out);
        }
        match self.work {
            UnaryWork::Library => return io.out.emit(self.plans.add_one(cx, &stream, src)?),
            UnaryWork::Calls(calls) => {
                let extra = cx.allocate_cuda_stream(io.extra)?;
                let out = self.plans.call(calls, cx, (&stream, &extra), src)?;
                return io.out.set_cuda_stream(&extra).emit(out);
            }
            _ => {}
        }
        let mut out = cx.tensor(SHAPE, &stream)?;
        stream.launch::<SlowCopy>(LEN, (&mut out, src, 0))?;
        if self.work == UnaryWork::Map {
            stream.launch::<AddOne>(LEN, (&mut out,))?;
            return io.out.emit(out);
        }
        let extra = cx.allocate_cuda_stream(io.extra)?;
        extra.launch::<AddOne>(LEN, (&mut out,))?;
        io.out.set_cuda_stream(&extra).emit(out)
    }
}

#[operator]
pub(crate) struct Taking {
    #[input]
    data: Tensor<f32>,
    #[output]
    out: Tensor<f32>,
}

impl Compute for Taking {
    fn compute(&mut self, io: TakingIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (mut data, stream) = io.data.receive().receive_cuda_stream(cx)?;
        stream.launch::<AddOne>(LEN, (&mut data,))?;
        io.out.emit(data)
    }
}

#[operator]
pub(crate) struct Relay {
    #[input]
    data: Shared<Tensor<f32>>,
    #[output]
    out: Shared<Tensor<f32>>,
}

impl Compute for Relay {
    fn compute(&mut self, io: RelayIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (data, _) = io.data.receive().receive_cuda_stream(cx)?;
        io.out.emit(data)
    }
}

#[operator]
pub(crate) struct Keep {
    #[input]
    now: Shared<Tensor<f32>>,
    #[output]
    out: Tensor<f32>,
    before: Option<Shared<Tensor<f32>>>,
}

impl Compute for Keep {
    fn compute(&mut self, io: KeepIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (now, stream) = io.now.receive().receive_cuda_stream(cx)?;
        let mut out = cx.tensor(SHAPE, &stream)?;
        let before = self.before.as_ref().unwrap_or(&now);
        stream.launch::<Axpy>(LEN, (&mut out, 2.0, before, &now))?;
        self.before = Some(now);
        io.out.emit(out)
    }
}

#[operator]
pub(crate) struct Combine {
    #[input]
    a: &Tensor<f32>,
    #[input]
    b: &Tensor<f32>,
    #[output]
    out: Tensor<f32>,
}

impl Compute for Combine {
    fn compute(&mut self, io: CombineIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (a, stream) = io.a.receive().receive_cuda_stream(cx)?;
        let (b, _) = io.b.receive().receive_cuda_stream(cx)?;
        let mut out = cx.tensor(SHAPE, &stream)?;
        stream.launch::<Axpy>(LEN, (&mut out, 2.0, a, b))?;
        io.out.emit(out)
    }
}

#[operator]
pub(crate) struct Clock {
    #[output]
    tick: u64,
}

impl Compute for Clock {
    fn compute(&mut self, io: ClockIo<'_>, cx: &ExecutionContext) -> Result<()> {
        if cx.tick() >= LATE_BY { io.tick.emit(cx.tick()) } else { Ok(()) }
    }
}

#[operator]
pub(crate) struct Late {
    #[input]
    a: &Tensor<f32>,
    #[input]
    b: &Tensor<f32>,
    #[input]
    tick: u64,
    #[output]
    out: Tensor<f32>,
}

impl Compute for Late {
    fn compute(&mut self, io: LateIo<'_>, cx: &ExecutionContext) -> Result<()> {
        io.tick.discard();
        let (a, stream) = io.a.receive().receive_cuda_stream(cx)?;
        let (b, _) = io.b.receive().receive_cuda_stream(cx)?;
        let mut out = cx.tensor(SHAPE, &stream)?;
        stream.launch::<Axpy>(LEN, (&mut out, 2.0, a, b))?;
        io.out.emit(out)
    }
}

/// A sink that checks the data of each tick. Wrong data is an error that begins with [`WRONG`].
#[operator]
pub(crate) struct Sink {
    #[input]
    data: &Tensor<f32>,
    reading: Reading,
    /// The expected value of each tick.
    expected: Vec<f32>,
    waiting: Vec<Download<f32>>,
    read: usize,
}

impl Sink {
    fn read(&mut self) -> Result<()> {
        for download in self.waiting.drain(..) {
            let (found, expected) = (download.wait_blocking()?, self.expected.get(self.read));
            if found.len() != LEN || found.iter().any(|found| Some(found) != expected) {
                let tick = self.read;
                let text = format!("{WRONG}: {found:?} in tick {tick}, not {expected:?}");
                return Err(Failure::msg(text));
            }
            self.read += 1;
        }
        Ok(())
    }
}

/// The beginning of a sink's error.
pub(crate) const WRONG: &str = "wrong data";

impl Compute for Sink {
    fn compute(&mut self, io: SinkIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (data, stream) = io.data.receive().receive_cuda_stream(cx)?;
        if self.reading == Reading::Next {
            self.read()?;
        }
        self.waiting.push(cx.download(data, &stream)?);
        if self.reading == Reading::Done { self.read() } else { Ok(()) }
    }

    fn stop(&mut self, _: &ExecutionContext) -> Result<()> {
        if self.reading == Reading::ButTheLast {
            self.waiting.pop();
            self.expected.pop();
        }
        self.read()?;
        let (read, ticks) = (self.read, self.expected.len());
        if read == ticks {
            return Ok(());
        }
        Err(Failure::msg(format!("only {read} of {ticks} messages arrived")))
    }
}
