// No edge leads from the input of the graph.
use streamflow::prelude::*;
use streamflow_tests::stereo::Cast;

graph! {
    /// A graph with ports.
    pub struct Part {
        input frame: &Tensor<u8>;
        input more: &Tensor<u8>;
        output image: Tensor<f32>;
        let cast: Cast = Cast::new();
        frame >> cast.src;
        cast.dst >> image;
    }
}

fn main() {}
