// The array inside of a graph has no such node.
use streamflow::prelude::*;
use streamflow_tests::stereo::Invert;

graph! {
    /// A graph with ports.
    pub struct Part {
        input image: Tensor<f32>;
        output negative: Tensor<f32>;
        let inverts: [Invert; 2] = |_| Invert::new();
        image >> inverts[0].src;
        inverts[0].dst >> inverts[1].src;
        inverts[2].dst >> negative;
    }
}

fn main() {}
