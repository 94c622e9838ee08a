// A pool that the graph does not declare.
use streamflow::prelude::*;
use streamflow_tests::stereo::Camera;

graph! {
    pub struct Pools {
        const STREAMS: CudaStreamPool = CudaStreamPool::new();
        #[streams(STREMS)]
        let a: Camera = Camera::new(1, 1);
        #[streams(GPU)]
        let b: Camera = Camera::new(1, 1);
        #[streams(STREAMS)]
        let c: Camera = Camera::new(1, 1);
        a.frame >> _;
        b.frame >> _;
        c.frame >> _;
    }
}

fn main() {}
