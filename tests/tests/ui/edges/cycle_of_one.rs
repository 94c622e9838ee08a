// An operator that would wait for itself.
use streamflow::prelude::*;
use streamflow_tests::stereo::Invert;

graph! {
    pub struct Loop {
        let a: Invert = Invert::new();
        a.dst >> a.src;
    }
}

fn main() {}
