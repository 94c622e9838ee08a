// The type of the node inside is no operator.
use streamflow::prelude::*;
use streamflow_tests::stereo::Cast;

/// No operator.
struct Unmarked;

graph! {
    /// A graph with ports.
    pub struct Part {
        input frame: &Tensor<u8>;
        output image: Tensor<f32>;
        let cast: Cast = Cast::new();
        let plain: Unmarked = Unmarked;
        frame >> cast.src;
        cast.dst >> image;
    }
}

fn main() {}
