// The range is longer than the array of ports.
use streamflow::prelude::*;
use streamflow_tests::stereo::Cast;

graph! {
    /// A graph with an array of ports.
    pub struct Part {
        input frames: [&Tensor<u8>; 2];
        let casts: [Cast; 3] = |_| Cast::new();
        for i in 0..3 {
            frames[i] >> casts[i].src;
            casts[i].dst >> _;
        }
    }
}

fn main() {}
