// No edge leads from the array of ports.
use streamflow::prelude::*;
use streamflow_tests::stereo::Cast;

graph! {
    /// A graph with an array of ports.
    pub struct Part {
        input frames: [&Tensor<u8>; 3];
        input frame: &Tensor<u8>;
        let cast: Cast = Cast::new();
        frame >> cast.src;
        cast.dst >> _;
    }
}

fn main() {}
