// The consumer has no device of its own; a transfer that is also a copy, or is discarded.
use streamflow::prelude::*;
use streamflow_tests::stereo::{Camera, Cast};

graph! {
    pub struct Where {
        const FAR: CudaStreamPool = CudaStreamPool::new().device(device(1));
        #[streams(FAR)]
        let camera: Camera = Camera::new(1, 1);
        #[streams(none)]
        let cast: Cast = Cast::new();
        let again: Cast = Cast::new();
        #[transfer]
        camera.frame >> cast.src;
        #[copy] #[transfer]
        camera.frame >> again.src;
        #[transfer]
        cast.dst >> _;
        #[transfer(1)]
        again.dst >> _;
    }
}

fn main() {}
