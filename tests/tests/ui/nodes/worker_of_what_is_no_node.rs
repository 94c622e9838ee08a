// A worker of a graph, of a pool, of an edge and of a discard.
use streamflow::prelude::*;
use streamflow_tests::stereo::{Camera, Cast};

graph! {
    #[worker(disk)]
    pub struct Workers {
        #[worker(disk)]
        const GPU: CudaStreamPool = CudaStreamPool::new();
        #[streams(GPU)]
        let camera: Camera = Camera::new(1, 1);
        #[streams(GPU)]
        let cast: Cast = Cast::new();

        #[worker(disk)]
        camera.frame >> cast.src;
        #[worker(disk)]
        cast.dst >> _;
    }
}

fn main() {}
