// The elements of an array of ports have a named lifetime.
use streamflow::prelude::*;
use streamflow_tests::stereo::Cast;

graph! {
    /// A graph with an array of ports.
    pub struct Part {
        input frames: [&'a Tensor<u8>; 2];
        let casts: [Cast; 2] = |_| Cast::new();
        for i in 0..2 {
            frames[i] >> casts[i].src;
            casts[i].dst >> _;
        }
    }
}

fn main() {}
