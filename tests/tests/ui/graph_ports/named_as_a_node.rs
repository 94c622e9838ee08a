// The port has the name of a node.
use streamflow::prelude::*;
use streamflow_tests::stereo::Cast;

graph! {
    /// A graph with ports.
    pub struct Part {
        input cast: &Tensor<u8>;
        output image: Tensor<f32>;
        let cast: Cast = Cast::new();
        cast.dst >> image;
    }
}

fn main() {}
