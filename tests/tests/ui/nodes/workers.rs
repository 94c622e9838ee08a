// Workers that can't be read, and a second one.
use streamflow::prelude::*;
use streamflow_tests::stereo::Counter;

graph! {
    pub struct Workers {
        #[worker]
        let a: Counter = Counter::new();
        #[worker()]
        let b: Counter = Counter::new();
        #[worker(disk, net)]
        let c: Counter = Counter::new();
        #[worker("disk")]
        let d: Counter = Counter::new();
        #[worker(2)]
        let e: Counter = Counter::new();
        #[worker = disk]
        let f: Counter = Counter::new();
        #[worker(io::disk)]
        let g: Counter = Counter::new();
        #[worker(none)]
        let h: Counter = Counter::new();
        #[worker(disk)]
        #[worker(net)]
        let i: Counter = Counter::new();
        #[wroker(disk)]
        let j: Counter = Counter::new();

        a.number >> _;
        b.number >> _;
        c.number >> _;
        d.number >> _;
        e.number >> _;
        f.number >> _;
        g.number >> _;
        h.number >> _;
        i.number >> _;
        j.number >> _;
    }
}

fn main() {}
