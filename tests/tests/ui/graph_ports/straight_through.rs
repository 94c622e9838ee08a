// An edge leads from an input of the graph to an output.
use streamflow::prelude::*;
use streamflow_tests::stereo::Cast;

graph! {
    /// A graph with ports.
    pub struct Part {
        input frame: &Tensor<u8>;
        output copy: Shared<Tensor<u8>>;
        output image: Tensor<f32>;
        let cast: Cast = Cast::new();
        frame >> cast.src;
        frame >> copy;
        cast.dst >> image;
    }
}

fn main() {}
