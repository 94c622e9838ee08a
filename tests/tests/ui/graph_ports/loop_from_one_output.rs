// Each turn of the loop exports the same output.
use streamflow::prelude::*;
use streamflow_tests::stereo::Cast;

graph! {
    /// A graph with an array of ports.
    pub struct Part {
        input frame: &Tensor<u8>;
        output images: [Tensor<f32>; 2];
        let cast: Cast = Cast::new();
        frame >> cast.src;
        for i in 0..2 {
            cast.dst >> images[i];
        }
    }
}

fn main() {}
