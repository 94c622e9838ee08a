// Values with which a condition would always or never hold, and durations without a unit.
use streamflow::memory::Allocator;
use streamflow::prelude::*;
use streamflow_tests::stereo::Counter;

graph! {
    pub struct Conditions(memory: Allocator) {
        #[when(periodic(0ms))]
        let a: Counter = Counter::new();
        #[when(periodic(50))]
        let b: Counter = Counter::new();
        #[when(periodic(50mss, spaced))]
        let c: Counter = Counter::new();
        #[when(memory_available(memory, bytes(0)), memory_available(memory, blocks(0)))]
        let d: Counter = Counter::new();
        #[when(any(message_available(x, 0), multi_message([y, z], each(1, 0))))]
        let e: Counter = Counter::new();
        #[when(multi_message([y, z], each(1)), multi_message([y, y], sum(2)))]
        let f: Counter = Counter::new();
        #[when(count(0))]
        let g: Counter = Counter::new();
        #[when(any(count(0), expiring(x, 0ms)), expiring(y, 0.4ns))]
        let h: Counter = Counter::new();
        a.number >> _;
        b.number >> _;
        c.number >> _;
        d.number >> _;
        e.number >> _;
        f.number >> _;
        g.number >> _;
        h.number >> _;
    }
}

fn main() {}
