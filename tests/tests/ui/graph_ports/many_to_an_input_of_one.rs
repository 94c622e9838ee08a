// The input of the graph takes any number of edges, and that inside takes one.
use streamflow::prelude::*;
use streamflow_tests::stereo::Cast;

graph! {
    /// A graph with ports.
    pub struct Part {
        input(many) frames: &Tensor<u8>;
        output image: Tensor<f32>;
        let cast: Cast = Cast::new();
        frames >> cast.src;
        cast.dst >> image;
    }
}

fn main() {}
