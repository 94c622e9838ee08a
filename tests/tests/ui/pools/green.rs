// Blocking streams in a green context, a missing partition, sizes that are not multiples of `min_sm_size`.
use streamflow::prelude::*;
use streamflow::stream::{CudaGreenContextPool, StreamFlags};
use streamflow_tests::stereo::Camera;

graph! {
    pub struct Blocking {
        const GREEN: CudaGreenContextPool = CudaGreenContextPool::new().sms_per_partition(&[8, 8]);
        const POOL: CudaStreamPool =
            CudaStreamPool::new().flags(StreamFlags::Blocking).on(GREEN.context(0));
        #[streams(POOL)]
        let a: Camera = Camera::new(1, 1);
        a.frame >> _;
    }
}

graph! {
    pub struct NotThere {
        const GREEN: CudaGreenContextPool = CudaGreenContextPool::new().sms_per_partition(&[8, 8]);
        const POOL: CudaStreamPool = CudaStreamPool::new().on(GREEN.context(2));
        #[streams(POOL)]
        let a: Camera = Camera::new(1, 1);
        a.frame >> _;
    }
}

graph! {
    pub struct OtherDevice {
        const GREEN: CudaGreenContextPool = CudaGreenContextPool::new().sms_per_partition(&[8, 8]);
        const POOL: CudaStreamPool = CudaStreamPool::new().on(GREEN.leftover()).device(device(1));
        #[streams(POOL)]
        let a: Camera = Camera::new(1, 1);
        a.frame >> _;
    }
}

graph! {
    #[green_contexts(GREEN)]
    pub struct NoMultiple {
        const GREEN: CudaGreenContextPool =
            CudaGreenContextPool::new().sms_per_partition(&[8, 12]).min_sm_size(8);
        let a: Camera = Camera::new(1, 1);
        a.frame >> _;
    }
}

fn main() {}
