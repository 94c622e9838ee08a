// The value of the node is an operator of another type than the parameter.
use streamflow::prelude::*;
use streamflow_tests::stereo::{Camera, FrameSource};

graph! {
    /// A graph with a type parameter.
    pub struct App<S: FrameSource>(source: New<S>) {
        let source: S = { drop(source); Camera::new(10, 1) };
        source.frame >> _;
    }
}

fn main() {}
