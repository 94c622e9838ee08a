// No edge leads from an element of the input.
use streamflow::prelude::*;
use streamflow_tests::stereo::Cast;

graph! {
    /// A graph with an array of ports.
    pub struct Part {
        input frames: [&Tensor<u8>; 3];
        let casts: [Cast; 2] = |_| Cast::new();
        for i in 0..2 {
            frames[i] >> casts[i].src;
            casts[i].dst >> _;
        }
    }
}

fn main() {}
