//! A small network that reads digits: two products of matrices, each with its bias, and the first with ReLU.
//!
//! The digits are 8 x 8 pixels with noise, made by a generator. The network is trained on the host before the run: the weights of
//! the hidden layer are random, and those of the output layer solve a least-squares problem.

mod images;
mod network;

pub use images::{CLASSES, PIXELS, label, pixels};
pub use network::{HIDDEN, Network};
use streamflow::prelude::*;
use streamflow_math::Plan;
use streamflow_math::matmul::{Bias, Matmul};

use crate::deliver::{Deliver, Report};

/// How many digits the network reads in a tick.
pub const BATCH: usize = 100;

/// Sends images of digits, a batch in each tick.
#[operator(streams(upload))]
pub struct Scanner {
    /// The images, of shape `[BATCH, PIXELS]`.
    #[output]
    images: Tensor<f32>,
}

impl Compute for Scanner {
    fn compute(&mut self, io: ScannerIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let stream = cx.allocate_cuda_stream(io.upload)?;
        let mut images = cx.tensor([BATCH, PIXELS], &stream)?;
        stream.upload_blocking(&batch(cx.tick()), &mut images)?;
        io.images.set_cuda_stream(&stream).emit(images)
    }
}

/// The images of a tick.
pub fn batch(tick: u64) -> Vec<f32> {
    let first = BATCH as u32 * tick as u32;
    (first..first + BATCH as u32).flat_map(pixels).collect()
}

/// The digits that the images of a tick show.
pub fn labels(tick: u64) -> Vec<usize> {
    let first = BATCH as u32 * tick as u32;
    (first..first + BATCH as u32).map(label).collect()
}

/// The class with the largest output, for each row of the outputs.
pub fn classes(outputs: &[f32]) -> Vec<usize> {
    let largest = |row: &[f32]| (0..CLASSES).max_by(|&a, &b| row[a].total_cmp(&row[b]));
    outputs.chunks(CLASSES).map(|row| largest(row).unwrap_or_default()).collect()
}

/// A layer: `x w + b`, with ReLU or without.
#[operator]
pub struct Layer {
    /// The inputs of the layer, of shape `[BATCH, inputs]`.
    #[input]
    x: &Tensor<f32>,
    /// The outputs of the layer, of shape `[BATCH, outputs]`.
    #[output]
    y: Tensor<f32>,
    /// The weights, of shape `[inputs, outputs]`.
    weights: Tensor<f32>,
    bias: Tensor<f32>,
    has_relu: bool,
    plan: Option<Plan<Matmul<f32, Bias>>>,
}

impl Compute for Layer {
    fn start(&mut self, _: LayerStreams<'_>, cx: &ExecutionContext) -> Result<()> {
        let stream = cx.internal_stream()?;
        let plan = Matmul::plan(BATCH, self.weights.cols(), self.weights.rows()).bias();
        let plan = if self.has_relu { plan.relu() } else { plan };
        self.plan = Some(plan.on(cx, &stream)?);
        Ok(())
    }

    fn compute(&mut self, io: LayerIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (x, stream) = io.x.receive().receive_cuda_stream(cx)?;
        let mut y = cx.tensor([BATCH, self.weights.cols()], &stream)?;
        if let Some(plan) = &mut self.plan {
            plan.execute(&stream, x, &self.weights, &self.bias, &mut y)?;
        }
        io.y.emit(y)
    }
}

/// Creates a layer, with its weights and its bias on the device.
fn layer(platform: &Platform, (weights, bias): (&[f32], &[f32]), has_relu: bool) -> Result<Layer> {
    let rows = weights.len() / bias.len();
    let weights = platform.upload(weights)?.reshape([rows, bias.len()])?;
    Ok(Layer::new(weights, platform.upload(bias)?, has_relu, None))
}

graph! {
    /// Reads `count` batches. `show` gets the outputs of the network.
    pub struct Digits(network: &Network, count: u64, show: Report<f32>) {
        const STREAMS: CudaStreamPool = CudaStreamPool::new().max_size(4);

        #[streams(STREAMS)] #[when(count(count))]
        let scanner: Scanner = Scanner::new();
        #[streams(STREAMS)]
        let hidden: Layer = layer(platform, network.hidden(), true)?;
        #[streams(STREAMS)]
        let output: Layer = layer(platform, network.output(), false)?;
        #[streams(STREAMS)]
        let show: Deliver<f32> = Deliver::new(show);

        scanner.images >> hidden.x;
        hidden.y >> output.x;
        output.y >> show.tensor;
    }
}
