// The name of the port is a keyword.
use streamflow::prelude::*;
use streamflow_tests::stereo::Cast;

graph! {
    /// A graph with ports.
    pub struct Part {
        input type: &Tensor<u8>;
        output image: Tensor<f32>;
        let cast: Cast = Cast::new();
        r#type >> cast.src;
        cast.dst >> image;
    }
}

fn main() {}
