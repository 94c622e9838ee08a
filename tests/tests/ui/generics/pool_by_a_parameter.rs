// The pool is a constant, and its size is a parameter of the graph.
use streamflow::prelude::*;
use streamflow_tests::stereo::Camera;

graph! {
    /// A graph with a constant parameter.
    pub struct App<const N: usize> {
        const POOL: CudaStreamPool = CudaStreamPool::new().max_size(N as u32);
        #[streams(POOL)]
        let cameras: [Camera; N] = |i| Camera::new(10, i as u8);
        for i in 0..N {
            cameras[i].frame >> _;
        }
    }
}

fn main() {}
