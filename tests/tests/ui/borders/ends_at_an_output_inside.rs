// The edge from an input of the graph ends at an output.
use streamflow::prelude::*;
use streamflow_tests::stereo::Cast;

graph! {
    /// A graph with ports.
    pub struct Part {
        input frame: &Tensor<u8>;
        output image: Tensor<f32>;
        let cast: Cast = Cast::new();
        let other: Cast = Cast::new();
        frame >> (cast.src, other.src);
        cast.dst >> image;
        frame >> other.dst;
    }
}

fn main() {}
