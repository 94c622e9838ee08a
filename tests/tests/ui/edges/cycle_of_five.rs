// Five operators that would wait for each other; the edges are in no order.
use streamflow::prelude::*;
use streamflow_tests::stereo::Invert;

graph! {
    pub struct Loop {
        let a: Invert = Invert::new();
        let b: Invert = Invert::new();
        let c: Invert = Invert::new();
        let d: Invert = Invert::new();
        let e: Invert = Invert::new();

        d.dst >> e.src;
        b.dst >> c.src;
        e.dst >> a.src;
        c.dst >> d.src;
        a.dst >> b.src;
    }
}

fn main() {}
