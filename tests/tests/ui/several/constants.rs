// Mistakes that only constants find, all in one graph: two inputs and an output without edges, a pool that is too
// small, a pool for an operator with only host data, and an edge between devices.
use streamflow::prelude::*;
use streamflow_tests::stereo::{Camera, Cast, Counter, Fuse, Show};

graph! {
    pub struct Constants {
        const NEAR: CudaStreamPool = CudaStreamPool::new().max_size(1);
        const FAR: CudaStreamPool = CudaStreamPool::new().device(device(1));

        #[streams(FAR)]
        let camera: Camera = Camera::new(480, 1);
        #[streams(NEAR)]
        let cast: Cast = Cast::new();
        #[streams(NEAR)]
        let fuse: Fuse = Fuse::new();
        #[streams(FAR)]
        let counter: Counter = Counter::new();
        let show: Show = Show::new(Vec::new());

        camera.frame >> cast.src;
        counter.number >> show.label;
        fuse.depth >> show.image;
    }
}

fn main() -> Result<()> {
    Constants::new(&Platform::detect()?)?.run()?;
    Ok(())
}
