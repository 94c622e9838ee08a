// The name would be that of a type of the expansion.
use streamflow::prelude::*;
use streamflow_tests::stereo::Cast;

graph! {
    /// A graph with ports.
    pub struct Part {
        input New: &Tensor<u8>;
        output image: Tensor<f32>;
        let cast: Cast = Cast::new();
        New >> cast.src;
        cast.dst >> image;
    }
}

fn main() {}
