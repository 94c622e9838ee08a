// A pool whose streams are planned in no set.
use streamflow::prelude::*;
use streamflow::stream::Assign;
use streamflow_tests::stereo::{Camera, Cast, Show};

graph! {
    pub struct Pools {
        const GPU: CudaStreamPool = CudaStreamPool::new().assign(Assign::Planned { depth: 0 });
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
