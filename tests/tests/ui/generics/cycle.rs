// Two steps wait for each other, in a graph that nothing makes.
use streamflow::prelude::*;
use streamflow_tests::stereo::{Invert, Step};

graph! {
    /// A graph with a type parameter.
    pub struct App<T: Step>(step: New<T>) {
        let step: T = step;
        let invert: Invert = Invert::new();
        step.dst >> invert.src;
        invert.dst >> step.src;
    }
}

fn main() {}
