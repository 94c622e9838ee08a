// A pool that has a stream for each node, but not for the streams that an operator declares beside its internal one.
use streamflow::prelude::*;
use streamflow_tests::stereo::{Camera, Cast};

#[operator(streams(upload, download))]
pub struct Copies {
    #[input]
    image: Tensor<f32>,
    #[output]
    copied: Tensor<f32>,
}

impl Compute for Copies {
    fn compute(&mut self, io: CopiesIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (image, _) = io.image.receive().receive_cuda_stream(cx)?;
        let _ = (io.upload, io.download);
        io.copied.emit(image)
    }
}

graph! {
    pub struct Pools {
        const GPU: CudaStreamPool = CudaStreamPool::new().max_size(3);
        #[streams(GPU)]
        let camera: Camera = Camera::new(1, 1);
        #[streams(GPU)]
        let cast: Cast = Cast::new();
        #[streams(GPU)]
        let copies: Copies = Copies::new();

        camera.frame >> cast.src;
        cast.dst >> copies.image;
        copies.copied >> _;
    }
}

fn main() {}
