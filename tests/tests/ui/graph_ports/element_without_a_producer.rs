// No edge leads to an element of the output.
use streamflow::prelude::*;
use streamflow_tests::stereo::Cast;

graph! {
    /// A graph with an array of ports.
    pub struct Part {
        input frames: [&Tensor<u8>; 2];
        output images: [Tensor<f32>; 3];
        let casts: [Cast; 2] = |_| Cast::new();
        for i in 0..2 {
            frames[i] >> casts[i].src;
        }
        casts[0].dst >> images[0];
        casts[1].dst >> images[2];
    }
}

fn main() {}
