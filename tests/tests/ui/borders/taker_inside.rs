// The graph reads its input, and the operator inside takes the message.
use streamflow::prelude::*;
use streamflow_tests::stereo::Invert;

graph! {
    /// A graph with ports.
    pub struct Part {
        input image: &Tensor<f32>;
        output negative: Tensor<f32>;
        let invert: Invert = Invert::new();
        image >> invert.src;
        invert.dst >> negative;
    }
}

fn main() {}
