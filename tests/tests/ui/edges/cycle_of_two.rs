// Two operators that would wait for each other.
use streamflow::prelude::*;
use streamflow_tests::stereo::Invert;

graph! {
    pub struct Loop {
        let a: Invert = Invert::new();
        let b: Invert = Invert::new();

        a.dst >> b.src;
        b.dst >> a.src;
    }
}

fn main() {}
