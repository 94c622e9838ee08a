// All nodes inside adopt the stream of their message, and the node has a pool.
use streamflow::prelude::*;
use streamflow_tests::stereo::{Camera, Cast, Show};

graph! {
    /// A graph with ports.
    pub struct Part {
        input frame: &Tensor<u8>;
        output image: Tensor<f32>;
        #[streams(none)]
        let cast: Cast = Cast::new();
        frame >> cast.src;
        cast.dst >> image;
    }
}

graph! {
    /// An application.
    pub struct App {
        const POOL: CudaStreamPool = CudaStreamPool::new();
        let camera: Camera = Camera::new(10, 0);
        #[streams(POOL)]
        let part: Part = Part::new();
        let show: Show = Show::new(Vec::new());
        camera.frame >> part.frame;
        part.image >> show.image;
    }
}

fn main() -> Result<()> {
    let mut app = App::new(&Platform::detect()?)?;
    app.run()?;
    Ok(())
}
