//! The operators of a graph of 2,000 nodes. `build.rs` writes the graph.

use streamflow::prelude::*;

/// `data[i] = value`
#[kernel(unsafe cuda = "unsigned long long i = thread_index(); if (i < data_len) data[i] = value;")]
pub fn fill(data: &mut [f32], value: f32) {
    data.fill(value);
}

/// `sum[i] += a[i] / 4`
#[kernel(
    requires(a.len() == sum.len()),
    unsafe cuda = "unsigned long long i = thread_index(); if (i < sum_len) sum[i] += a[i] / 4.0f;"
)]
pub fn add(sum: &mut [f32], a: &[f32]) {
    sum.iter_mut().zip(a).for_each(|(sum, a)| *sum += a / 4.0);
}

/// Sends its value plus the number of the tick.
#[operator(streams(fill))]
#[derive(Debug)]
pub struct Origin {
    #[output]
    out: Tensor<f32>,
    value: f32,
}

impl Compute for Origin {
    fn compute(&mut self, io: OriginIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let stream = cx.allocate_cuda_stream(io.fill)?;
        let mut out = cx.tensor([4], &stream)?;
        stream.launch::<fill>(out.len(), (&mut out, self.value + cx.tick() as f32))?;
        io.out.set_cuda_stream(&stream).emit(out)
    }
}

/// Sends its value plus a quarter of the sum of its inputs.
#[operator]
#[derive(Debug)]
pub struct Task {
    #[input(many)]
    before: &Tensor<f32>,
    #[output]
    out: Tensor<f32>,
    value: f32,
}

impl Compute for Task {
    fn compute(&mut self, io: TaskIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (before, stream) = io.before.receive().receive_cuda_stream(cx)?;
        let mut out = cx.tensor([4], &stream)?;
        stream.launch::<fill>(out.len(), (&mut out, self.value))?;
        for before in before {
            stream.launch::<add>(out.len(), (&mut out, before))?;
        }
        io.out.emit(out)
    }
}

/// Keeps the first value of each tensor of the last row.
#[operator]
#[derive(Debug)]
pub struct Sink {
    #[input(many)]
    last: &Tensor<f32>,
    /// The values of each tick.
    pub seen: Vec<Vec<f32>>,
}

impl Compute for Sink {
    fn compute(&mut self, io: SinkIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (last, stream) = io.last.receive().receive_cuda_stream(cx)?;
        let mut seen = Vec::new();
        for last in last {
            seen.extend(cx.download(last, &stream)?.wait_blocking()?.first());
        }
        self.seen.push(seen);
        Ok(())
    }
}
