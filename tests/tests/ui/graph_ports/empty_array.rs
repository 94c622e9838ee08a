// The array of ports is empty.
use streamflow::prelude::*;
use streamflow_tests::stereo::Cast;

const LENGTH: usize = 0;

graph! {
    /// A graph with an array of ports.
    pub struct Part {
        input frames: [&Tensor<u8>; LENGTH];
        let cast: Cast = Cast::new();
        frames[0] >> cast.src;
        cast.dst >> _;
    }
}

fn main() {}
