// Each turn of the loop leads to the same input inside.
use streamflow::prelude::*;
use streamflow_tests::stereo::Show;

graph! {
    /// A graph with an array of ports.
    pub struct Part {
        input images: [&Tensor<f32>; 2];
        let show: Show = Show::new(Vec::new());
        for i in 0..2 {
            images[i] >> show.image;
        }
    }
}

fn main() {}
