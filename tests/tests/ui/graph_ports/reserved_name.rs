// The name is reserved.
use streamflow::prelude::*;
use streamflow_tests::stereo::Cast;

graph! {
    /// A graph with ports.
    pub struct Part {
        input __frame: &Tensor<u8>;
        output image: Tensor<f32>;
        let cast: Cast = Cast::new();
        __frame >> cast.src;
        cast.dst >> image;
    }
}

fn main() {}
