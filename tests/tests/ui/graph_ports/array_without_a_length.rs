// The array of ports has no length.
use streamflow::prelude::*;
use streamflow_tests::stereo::Cast;

graph! {
    /// A graph with an array of ports.
    pub struct Part {
        input frames: [&Tensor<u8>];
        let cast: Cast = Cast::new();
        frames[0] >> cast.src;
        cast.dst >> _;
    }
}

fn main() {}
