// The port has no type.
use streamflow::prelude::*;
use streamflow_tests::stereo::Cast;

graph! {
    /// A graph with ports.
    pub struct Part {
        input frame;
        output image: Tensor<f32>;
        let cast: Cast = Cast::new();
        frame >> cast.src;
        cast.dst >> image;
    }
}

fn main() {}
