//! The operators of the workloads, as a user writes them: NVIDIA's CudaStreamPool example and the tasks of Task Bench.

use std::sync::Arc;

use streamflow::prelude::*;
use streamflow_examples::seed_app::{exp_linspace, multiply_sum_rows};
use streamflow_tests::floor::{ELEMENTS, absorb, begin, tag, take};

use crate::run::Run;

/// Returns the grid of every task's kernels.
pub(crate) fn grid() -> Grid {
    Grid::elements(ELEMENTS).threads(32)
}

/// A task that reads no other task.
#[operator(no_new, streams(work))]
pub(crate) struct Origin {
    #[output]
    out: Tensor<u32>,
    tag: u32,
    run: Arc<Run<u32>>,
}

/// A task that reads the output of one other task.
#[operator(no_new)]
pub(crate) struct Step {
    #[input]
    from: &Tensor<u32>,
    #[output]
    out: Tensor<u32>,
    tag: u32,
    run: Arc<Run<u32>>,
}

/// A task that reads the outputs of several other tasks.
#[operator(no_new)]
pub(crate) struct Task {
    #[input(many)]
    from: &Tensor<u32>,
    #[output]
    out: Tensor<u32>,
    tag: u32,
    run: Arc<Run<u32>>,
}

/// The end of a chain, without a kernel.
#[operator(no_new)]
pub(crate) struct Last {
    #[input]
    from: &Tensor<u32>,
    run: Arc<Run<u32>>,
}

/// One of the last tasks of a fan.
#[operator(no_new)]
pub(crate) struct End {
    #[input]
    from: &Tensor<u32>,
    task: usize,
    run: Arc<Run<u32>>,
}

/// The end of a pattern, without a kernel.
#[operator(no_new)]
pub(crate) struct Sink {
    #[input(many)]
    from: &Tensor<u32>,
    run: Arc<Run<u32>>,
}

macro_rules! tasks {
    ($($name:ident)*) => { $(
        impl $name {
            pub(crate) fn new(task: usize, run: Arc<Run<u32>>) -> Self {
                Self { tag: tag(task), run }
            }
        }
    )* };
}

tasks!(Origin Step Task);

impl Last {
    pub(crate) fn new(_: usize, run: Arc<Run<u32>>) -> Self {
        Self { run }
    }
}

impl End {
    pub(crate) fn new(task: usize, run: Arc<Run<u32>>) -> Self {
        Self { task, run }
    }
}

impl Sink {
    pub(crate) fn new(_: usize, run: Arc<Run<u32>>) -> Self {
        Self { run }
    }
}

impl Compute for Origin {
    fn compute(&mut self, io: OriginIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let stream = cx.allocate_cuda_stream(io.work)?;
        let mut out = cx.tensor([ELEMENTS], &stream)?;
        if self.run.has_kernels() {
            let tag = self.tag ^ self.run.number(cx.tick());
            stream.launch::<begin>(grid(), (&mut out, tag, 0))?;
        }
        io.out.set_cuda_stream(&stream).emit(out)
    }
}

impl Compute for Step {
    fn compute(&mut self, io: StepIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (from, stream) = io.from.receive().receive_cuda_stream(cx)?;
        let mut out = cx.tensor([ELEMENTS], &stream)?;
        if self.run.has_kernels() {
            stream.launch::<take>(grid(), (&mut out, from, self.tag))?;
        }
        io.out.emit(out)
    }
}

impl Compute for Task {
    fn compute(&mut self, io: TaskIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (from, stream) = io.from.receive().receive_cuda_stream(cx)?;
        let mut out = cx.tensor([ELEMENTS], &stream)?;
        if self.run.has_kernels() {
            let read = self.run.kernels.reads(usize::MAX);
            for (place, from) in from.enumerate().take(read) {
                match place {
                    0 => stream.launch::<take>(grid(), (&mut out, from, self.tag))?,
                    _ => stream.launch::<absorb>(grid(), (&mut out, from, self.tag))?,
                }
            }
        }
        io.out.emit(out)
    }
}

impl Compute for Last {
    fn compute(&mut self, io: LastIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (from, stream) = io.from.receive().receive_cuda_stream(cx)?;
        self.run.end(cx.tick(), |kept| kept.add(0, || cx.download(from, &stream)))
    }

    fn stop(&mut self, _: &ExecutionContext) -> Result<()> {
        self.run.wait_blocking()
    }
}

impl Compute for End {
    fn compute(&mut self, io: EndIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (from, stream) = io.from.receive().receive_cuda_stream(cx)?;
        let mut out = cx.tensor([ELEMENTS], &stream)?;
        if self.run.has_kernels() {
            stream.launch::<take>(grid(), (&mut out, from, tag(self.task)))?;
        }
        self.run.end(cx.tick(), |kept| kept.add(self.task - 1, || cx.download(&out, &stream)))
    }

    fn stop(&mut self, _: &ExecutionContext) -> Result<()> {
        self.run.wait_blocking()
    }
}

impl Compute for Sink {
    fn compute(&mut self, io: SinkIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (from, stream) = io.from.receive().receive_cuda_stream(cx)?;
        self.run.end(cx.tick(), |kept| {
            let mut from = from.enumerate();
            from.try_for_each(|(place, from)| kept.add(place, || cx.download(from, &stream)))
        })
    }

    fn stop(&mut self, _: &ExecutionContext) -> Result<()> {
        self.run.wait_blocking()
    }
}

/// The source of the image workload: fills an image with `exp`, beginning at a value that differs from tick to tick.
#[operator(streams(fill))]
pub(crate) struct Source {
    #[output]
    image: Tensor<f32>,
    shape: [usize; 2],
    step: f32,
    run: Arc<Run<f32>>,
}

impl Compute for Source {
    fn compute(&mut self, io: SourceIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let stream = cx.allocate_cuda_stream(io.fill)?;
        let mut image = cx.tensor(self.shape, &stream)?;
        let start = start(self.run.number(cx.tick()));
        let grid = Grid::elements(image.len()).threads(256);
        stream.launch::<exp_linspace>(grid, (&mut image, start, self.step))?;
        io.image.set_cuda_stream(&stream).emit(image)
    }
}

/// Returns the exponent of the first pixel in the tick with this number.
pub(crate) fn start(number: u32) -> f32 {
    0.125 * (number % 8) as f32
}

/// Multiplies two images and sums each row.
#[operator]
pub(crate) struct Combine {
    #[input]
    in1: &Tensor<f32>,
    #[input]
    in2: &Tensor<f32>,
    #[output]
    out: Tensor<f32>,
}

impl Compute for Combine {
    fn compute(&mut self, io: CombineIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (a, stream) = io.in1.receive().receive_cuda_stream(cx)?;
        let (b, _) = io.in2.receive().receive_cuda_stream(cx)?;
        let mut sums = cx.tensor([a.rows()], &stream)?;
        let grid = Grid::blocks(a.rows());
        stream.launch::<multiply_sum_rows>(grid, (&mut sums, a, b, a.cols() as u32))?;
        io.out.emit(sums)
    }
}

/// Downloads the row sums of each tick, and keeps those of the last tick.
#[operator]
pub(crate) struct Receive {
    #[input]
    sums: &Tensor<f32>,
    run: Arc<Run<f32>>,
}

impl Compute for Receive {
    fn compute(&mut self, io: ReceiveIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (sums, stream) = io.sums.receive().receive_cuda_stream(cx)?;
        let sums = cx.download(sums, &stream)?;
        self.run.end(cx.tick(), |kept| kept.add(0, || Ok(sums)))
    }

    fn stop(&mut self, _: &ExecutionContext) -> Result<()> {
        self.run.wait_blocking()
    }
}
