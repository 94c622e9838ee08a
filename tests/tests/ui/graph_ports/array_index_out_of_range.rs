// The array of ports has no such element.
use streamflow::prelude::*;
use streamflow_tests::stereo::Cast;

graph! {
    /// A graph with an array of ports.
    pub struct Part {
        input frames: [&Tensor<u8>; 3];
        let casts: [Cast; 4] = |_| Cast::new();
        for i in 0..3 {
            frames[i] >> casts[i].src;
        }
        frames[3] >> casts[3].src;
        for i in 0..4 {
            casts[i].dst >> _;
        }
    }
}

fn main() {}
