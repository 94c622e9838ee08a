// An input of the graph is no output of a node.
use streamflow::prelude::*;
use streamflow_tests::stereo::Cast;

graph! {
    /// A graph with ports.
    pub struct Part {
        input frame: &Tensor<u8>;
        output image: Tensor<f32>;
        let cast: Cast = Cast::new();
        frame >> _;
        frame >> cast.src;
        cast.dst >> image;
    }
}

fn main() {}
