// An attribute before an expression, which could remove it.
use streamflow::operator::BooleanHandle;
use streamflow::prelude::*;
use streamflow_tests::stereo::{Camera, Counter};

graph! {
    pub struct Marked(handle: BooleanHandle) {
        const P: CudaStreamPool = #[cfg(any())] CudaStreamPool::new();
        #[streams(P)] #[when(count(#[cfg(any())] 1))]
        let a: Camera = #[cfg(any())] Camera::new(1, 1);
        #[when(periodic(10ms, catch_up(#[cfg(any())] 3)))] #[on_failure(restart(#[cfg(any())] 3, 1ms))]
        let b: Counter = #[allow(unused)] Counter::new();
        #[when(boolean(#[cfg(any())] handle), condition(#[cfg(any())] handle))]
        let c: Counter = Counter::new();
        a.frame >> _;
        b.number >> _;
        c.number >> _;
    }
}

fn main() {}
