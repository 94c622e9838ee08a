// Conditions whose arguments have another form.
use streamflow::memory::Allocator;
use streamflow::operator::BooleanHandle;
use streamflow::prelude::*;
use streamflow_tests::stereo::Counter;

graph! {
    pub struct Conditions(handle: BooleanHandle, memory: Allocator) {
        #[when(periodic(1s, sometimes))]
        let a: Counter = Counter::new();
        #[when(message_available(number))]
        let b: Counter = Counter::new();
        #[when(multi_message(number, sum(1)))]
        let c: Counter = Counter::new();
        #[when(expiring(number))]
        let d: Counter = Counter::new();
        #[when(memory_available(memory, 400))]
        let e: Counter = Counter::new();
        #[when(boolean, asynchronous(), room(a.number), host_done(), condition())]
        let f: Counter = Counter::new();
        #[when(any(boolean(handle)), any(any(boolean(handle), periodic(1s)), periodic(1s)))]
        let g: Counter = Counter::new();
        #[when(any(boolaen(handle), periodic(1s)))]
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
