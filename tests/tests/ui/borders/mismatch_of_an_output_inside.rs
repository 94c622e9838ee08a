// The output of the graph is declared with another type than the operator inside sends.
use streamflow::prelude::*;
use streamflow_tests::stereo::Cast;

graph! {
    /// A graph with ports.
    pub struct Part {
        input frame: &Tensor<u8>;
        output image: Tensor<u8>;
        let cast: Cast = Cast::new();
        frame >> cast.src;
        cast.dst >> image;
    }
}

fn main() {}
