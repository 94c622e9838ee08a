// The edge to an output of the graph begins at an input.
use streamflow::prelude::*;
use streamflow_tests::stereo::Cast;

graph! {
    /// A graph with ports.
    pub struct Part {
        input frame: &Tensor<u8>;
        output image: Tensor<u8>;
        let cast: Cast = Cast::new();
        frame >> cast.src;
        cast.src >> image;
        cast.dst >> _;
    }
}

fn main() {}
