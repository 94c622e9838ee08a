// The edge of a port of the graph stands in a loop.
use streamflow::prelude::*;
use streamflow_tests::stereo::Invert;

graph! {
    /// A graph with ports.
    pub struct Part {
        input image: Tensor<f32>;
        let inverts: [Invert; 2] = |_| Invert::new();
        for i in 0..2 {
            image >> inverts[i].src;
            inverts[i].dst >> _;
        }
    }
}

fn main() {}
