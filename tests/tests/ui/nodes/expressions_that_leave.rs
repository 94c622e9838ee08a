// Expressions that would leave more than themselves.
use streamflow::operator::{Answer, BooleanHandle, Condition};
use streamflow::prelude::*;
use streamflow::time::Timestamp;
use streamflow_tests::stereo::{Camera, Counter};

#[operator]
pub struct Next {
    #[input]
    number: u64,
    #[output]
    next: u64,
}

impl Compute for Next {
    fn compute(&mut self, io: NextIo<'_>, _: &ExecutionContext) -> Result<()> {
        let number = io.number.receive().into_data();
        io.next.emit(number + 1)
    }
}

struct Never;

impl Condition for Never {
    fn check(&mut self, _: Timestamp) -> Answer {
        Answer::Never
    }
}

graph! {
    pub struct Leaving(handle: BooleanHandle, ready: bool) {
        const P: CudaStreamPool = return CudaStreamPool::new();
        let Q: CudaStreamPool = if ready { CudaStreamPool::new() } else { return };
        #[streams(P)] #[when(count(if ready { 3 } else { return 1 }))]
        let a: Camera = if ready { Camera::new(1, 1) } else { break };
        #[streams(Q)] #[when(count(1))]
        let b: Camera = if ready { Camera::new(1, 1) } else { return Camera::new(2, 2) };
        #[when(periodic(if ready { MS } else { break }, catch_up(if ready { 3 } else { continue })))]
        #[on_failure(restart(if ready { 3 } else { break }, if ready { MS } else { break 'outer }))]
        let c: Counter = if ready { Counter::new() } else { return Counter::new() };
        #[when(boolean(if ready { handle } else { return handle }), condition(if ready { Never } else { continue }))]
        let d: Counter = Counter::new();
        #[when(count(1))]
        let e: Next = Next::new();
        a.frame >> _;
        b.frame >> _;
        c.number >> _;
        d.number >> _;
        #[feedback(initial = if ready { 1 } else { break })] #[capacity(if ready { 1 } else { return })]
        e.next >> e.number;
    }
}

const MS: std::time::Duration = std::time::Duration::from_millis(1);

fn main() {}
