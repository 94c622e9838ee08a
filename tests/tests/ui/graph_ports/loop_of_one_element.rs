// Each turn of the loop has the same element of the input.
use streamflow::prelude::*;
use streamflow_tests::stereo::Cast;

graph! {
    /// A graph with an array of ports.
    pub struct Part {
        input frames: [&Tensor<u8>; 2];
        let casts: [Cast; 2] = |_| Cast::new();
        for i in 0..2 {
            frames[0] >> casts[i].src;
            casts[i].dst >> _;
        }
        frames[1] >> casts[1].src;
    }
}

fn main() {}
