//! NVIDIA's CudaStreamPool example as a graph: two sources, whose images are multiplied and summed by row.
//!
//! The kernels and the reference are in [`seed_app`](crate::seed_app), together with the form that is wired by hand.

use streamflow::prelude::*;

use crate::deliver::{Deliver, Report};
use crate::seed_app::{exp_linspace, multiply_sum_rows, step};

/// Fills an image with `exp(linspace(0, 10))`, on a stream of its pool.
#[operator(streams(fill))]
#[derive(Debug)]
pub struct Source {
    /// The image of this tick.
    #[output]
    image: Tensor<f32>,
    rows: usize,
    cols: u32,
}

impl Compute for Source {
    fn compute(&mut self, io: SourceIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let stream = cx.allocate_cuda_stream(io.fill)?;
        let mut image = cx.tensor([self.rows, self.cols as usize], &stream)?;
        let step = step(image.len());
        stream.launch::<exp_linspace>(image.len(), (&mut image, 0.0, step))?;
        io.image.set_cuda_stream(&stream).emit(image)
    }
}

/// Multiplies two images and sums each row.
#[operator]
#[derive(Debug)]
pub struct CombineAndSum {
    /// The first image.
    #[input]
    in1: &Tensor<f32>,
    /// The second image, of the same shape.
    #[input]
    in2: &Tensor<f32>,
    /// The sums of the rows.
    #[output]
    out: Tensor<f32>,
}

impl Compute for CombineAndSum {
    fn compute(
        &mut self,
        CombineAndSumIo { in1, in2, out }: CombineAndSumIo<'_>,
        cx: &ExecutionContext,
    ) -> Result<()> {
        let (a, stream) = in1.receive().receive_cuda_stream(cx)?;
        let (b, _) = in2.receive().receive_cuda_stream(cx)?;
        let mut sums = cx.tensor([a.rows()], &stream)?;
        let grid = Grid::blocks(a.rows());
        stream.launch::<multiply_sum_rows>(grid, (&mut sums, a, b, a.cols() as u32))?;
        out.emit(sums)
    }
}

/// Downloads the sums and passes them to a callback.
pub type DeliverTensor = Deliver<f32>;

graph! {
    /// Two sources on streams of their own, whose images are multiplied and summed by row. `report` gets the sums of each tick.
    ///
    /// With `use_default_stream`, the same operators work on the device's default stream, and the pool is not used.
    #[derive(Debug)]
    pub struct CudaStreamApp(
        rows: usize,
        cols: u32,
        count: u64,
        use_default_stream: bool,
        report: Report<f32>,
    ) {
        let STREAMS = CudaStreamPool::new()
            .max_size(5)
            .reserved_size(1)
            .use_default_stream(use_default_stream);

        #[streams(STREAMS)] #[when(count(count))]
        let source1: Source = Source::new(rows, cols);
        #[streams(STREAMS)] #[when(count(count))]
        let source2: Source = Source::new(rows, cols);
        #[streams(STREAMS)]
        let combine_and_sum: CombineAndSum = CombineAndSum::new();
        #[streams(STREAMS)] #[when(stream_done(tensor))]
        let rx: DeliverTensor = DeliverTensor::new(report);

        source1.image >> combine_and_sum.in1;
        source2.image >> combine_and_sum.in2;
        combine_and_sum.out >> rx.tensor;
    }
}
