//! The graph: images are made, scaled, and summed.

use streamflow::prelude::*;

use crate::scale::Scale;

/// The value with the number `i`.
#[kernel(map)]
fn ramp(image: &mut f32, first: f32, #[at] i: usize) {
    *image = first + i as f32;
}

/// Makes an image in every tick, on a stream of its own.
#[operator(streams(draw))]
pub struct Camera {
    /// The image of this tick.
    #[output]
    image: Tensor<f32>,
    len: usize,
}

impl Compute for Camera {
    fn compute(&mut self, io: CameraIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let stream = cx.allocate_cuda_stream(io.draw)?;
        let mut image = cx.tensor([self.len], &stream)?;
        stream.map::<ramp>((&mut image, cx.tick() as f32))?;
        io.image.set_cuda_stream(&stream).emit(image)
    }
}

/// Downloads each image, and keeps the sum of its values.
#[operator]
pub struct Sum {
    /// The image of this tick.
    #[input]
    image: &Tensor<f32>,
    /// The sums, one a tick.
    pub sums: Vec<f32>,
}

impl Compute for Sum {
    fn compute(&mut self, io: SumIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (image, stream) = io.image.receive().receive_cuda_stream(cx)?;
        let values = cx.download(image, &stream)?;
        self.sums.push(values.wait_blocking()?.iter().sum());
        Ok(())
    }
}

graph! {
    /// Images of `len` values, `count` of them, each multiplied by `factor`.
    pub struct Pipeline(len: usize, count: u64, factor: f32) {
        const STREAMS: CudaStreamPool = CudaStreamPool::new().max_size(3);

        #[streams(STREAMS)] #[when(count(count))]
        let camera: Camera = Camera::new(len);
        #[streams(STREAMS)]
        let scale: Scale = Scale::new(factor);
        #[streams(STREAMS)]
        let sum: Sum = Sum::new(Vec::new());

        camera.image >> scale.image;
        scale.scaled >> sum.image;
    }
}

#[cfg(test)]
mod tests {
    use streamflow::testing::explore;

    use super::*;

    #[test]
    fn the_sums_are_right_under_every_seed() -> Result<()> {
        Ok(explore(|platform| {
            let mut graph = Pipeline::new(platform, 4, 3, 2.0)?;
            graph.run()?;
            assert_eq!(graph.sum().sums, [12.0, 20.0, 28.0]);
            Ok(())
        })?)
    }
}
