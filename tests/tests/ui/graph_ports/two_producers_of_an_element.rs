// Two edges lead to one element of the output.
use streamflow::prelude::*;
use streamflow_tests::stereo::Cast;

graph! {
    /// A graph with an array of ports.
    pub struct Part {
        input frames: [&Tensor<u8>; 4];
        output images: [Tensor<f32>; 3];
        let casts: [Cast; 4] = |_| Cast::new();
        for i in 0..4 {
            frames[i] >> casts[i].src;
        }
        for i in 0..3 {
            casts[i].dst >> images[i];
        }
        casts[3].dst >> images[2];
    }
}

fn main() {}
