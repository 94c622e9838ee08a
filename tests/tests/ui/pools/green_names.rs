// A missing default, a second default, and an unused pool.
use streamflow::prelude::*;
use streamflow::stream::CudaGreenContextPool;
use streamflow_tests::stereo::Camera;

graph! {
    #[green_contexts(GRENE)]
    pub struct Unknown {
        const GREEN: CudaGreenContextPool = CudaGreenContextPool::new();
        let a: Camera = Camera::new(1, 1);
        a.frame >> _;
    }
}

graph! {
    #[green_contexts(GREEN)]
    #[green_contexts(GREEN)]
    #[green_contexts]
    pub struct Twice {
        const GREEN: CudaGreenContextPool = CudaGreenContextPool::new();
        let a: Camera = Camera::new(1, 1);
        a.frame >> _;
    }
}

graph! {
    pub struct Unused {
        const GREEN: CudaGreenContextPool = CudaGreenContextPool::new();
        let a: Camera = Camera::new(1, 1);
        a.frame >> _;
    }
}

fn main() {}
