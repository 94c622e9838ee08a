// A pool with fewer streams than its operators declare.
use streamflow::prelude::*;
use streamflow_tests::stereo::{Camera, Cast, Show};

graph! {
    pub struct Pools {
        const GPU: CudaStreamPool = CudaStreamPool::new().max_size(2);
        #[streams(GPU)]
        let left: Camera = Camera::new(1, 1);
        #[streams(GPU)]
        let cast: Cast = Cast::new();
        #[streams(GPU)]
        let show: Show = Show::new(Vec::new());
        left.frame >> cast.src;
        cast.dst >> show.image;
    }
}

fn main() {}
