use streamflow::prelude::*;

/// image[i] = first + i
#[kernel(map)]
fn ramp(image: &mut f32, first: f32, #[at] i: usize) {
    *image = first + i as f32;
}

/// Makes an image in every tick.
#[operator(streams(draw))]
struct Camera {
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
struct Sum {
    #[input]
    image: &Tensor<f32>,
    sums: Vec<f32>,
}

impl Compute for Sum {
    fn compute(&mut self, io: SumIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (image, stream) = io.image.receive_cuda_stream(cx)?;
        let values = cx.download(image, &stream)?;
        self.sums.push(values.wait_blocking()?.iter().sum());
        Ok(())
    }
}

graph! {
    /// Images, and their sums.
    struct FirstGraph(len: usize, count: u64) {
        const STREAMS: CudaStreamPool = CudaStreamPool::new().max_size(2);

        #[streams(STREAMS)] #[when(count(count))]
        let camera: Camera = Camera::new(len);
        #[streams(STREAMS)]
        let sum: Sum = Sum::new(Vec::new());

        camera.image >> sum.image;
    }
}

fn main() -> Result<()> {
    let platform = Platform::detect()?;
    println!("on {}", platform.name());
    let mut graph = FirstGraph::new(&platform, 4, 3)?;
    let report = graph.run()?;
    println!("{:?}", graph.sum().sums);
    print!("{report}");
    Ok(())
}

#[cfg(test)]
mod tests {
    use streamflow::testing::{self, explore};

    use super::*;

    #[test]
    fn the_sums_are_right_under_every_seed() -> Result<()> {
        Ok(explore(|platform| {
            let mut graph = FirstGraph::new(platform, 4, 3)?;
            graph.run()?;
            assert_eq!(graph.sum().sums, [6.0, 10.0, 14.0]);
            Ok(())
        })?)
    }

    #[test]
    fn the_kernels_are_right_on_a_gpu() -> Result<()> {
        FirstGraph::new(&Platform::detect()?, 4, 3)?.run()?;
        println!("{}", testing::kernels()?);
        Ok(())
    }
}
