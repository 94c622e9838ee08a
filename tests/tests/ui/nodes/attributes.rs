// Unknown attributes of a node.
use streamflow::prelude::*;
use streamflow_tests::stereo::Camera;

graph! {
    pub struct Attributes {
        const GPU: CudaStreamPool = CudaStreamPool::new();
        #[stream(GPU)]
        let a: Camera = Camera::new(1, 1);
        #[copy]
        let b: Camera = Camera::new(1, 1);
        #[cfg(test)]
        let c: Camera = Camera::new(1, 1);
        #[streams(GPU)]
        #[streams(none)]
        let d: Camera = Camera::new(1, 1);
        #[streams = GPU]
        let e: Camera = Camera::new(1, 1);
        #[count(3)]
        #[replay]
        #[input]
        #[capcity(2)]
        #[allow(unused)]
        let f: Camera = Camera::new(1, 1);
        a.frame >> _;
        b.frame >> _;
        c.frame >> _;
        d.frame >> _;
        e.frame >> _;
        f.frame >> _;
    }
}

fn main() {}
