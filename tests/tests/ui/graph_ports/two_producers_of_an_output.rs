// Two edges lead to the output of the graph.
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
        other.dst >> image;
    }
}

fn main() {}
