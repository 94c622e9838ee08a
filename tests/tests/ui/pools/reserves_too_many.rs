// A pool that reserves more than a pool can.
use streamflow::prelude::*;
use streamflow_tests::stereo::{Camera, Cast, Show};

graph! {
    pub struct Pools {
        const GPU: CudaStreamPool = CudaStreamPool::new().reserved_size(4_000_000_000);
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
