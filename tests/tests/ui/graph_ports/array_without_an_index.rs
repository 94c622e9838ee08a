// An edge inside names an array of ports without an index.
use streamflow::prelude::*;
use streamflow_tests::stereo::Cast;

graph! {
    /// A graph with an array of ports.
    pub struct Part {
        input frames: [&Tensor<u8>; 3];
        let cast: Cast = Cast::new();
        frames >> cast.src;
        cast.dst >> _;
    }
}

fn main() {}
