// Constants that use values of a run, a value that uses one which is made after it, and a transfer within one pool.
use streamflow::prelude::*;
use streamflow::stream::CudaGreenContextPool;
use streamflow_tests::stereo::{Camera, Cast};

graph! {
    pub struct Parameter(gpu: u32, device: u32) {
        const GPU: CudaStreamPool = CudaStreamPool::new().device(streamflow::device(gpu));
        #[streams(GPU)]
        let camera: Camera = Camera::new(device as usize, 1);
        camera.frame >> _;
    }
}

graph! {
    pub struct Value(sizes: Vec<u32>) {
        let GREEN = CudaGreenContextPool::new().sms_per_partition(&sizes);
        const GPU: CudaStreamPool = CudaStreamPool::new().on(GREEN.context(0));
        #[streams(GPU)]
        let camera: Camera = Camera::new(1, 1);
        camera.frame >> _;
    }
}

graph! {
    pub struct Order(sizes: Vec<u32>) {
        let GPU = CudaStreamPool::new().on(GREEN.context(0));
        let GREEN = CudaGreenContextPool::new().sms_per_partition(&sizes);
        #[streams(GPU)]
        let camera: Camera = Camera::new(1, 1);
        camera.frame >> _;
    }
}

graph! {
    pub struct Node(count: u64) {
        let camera = Camera::new(1, 1);
        let GPU = CudaStreamPool::new();
        camera.frame >> _;
    }
}

graph! {
    pub struct OneDevice(gpu: u32) {
        let GPU = CudaStreamPool::new().device(device(gpu));
        #[streams(GPU)]
        let camera: Camera = Camera::new(1, 1);
        #[streams(GPU)]
        let cast: Cast = Cast::new();
        #[transfer] camera.frame >> cast.src;
        cast.dst >> _;
    }
}

fn main() {}
