// The port of the graph is no array.
use streamflow::prelude::*;
use streamflow_tests::stereo::Cast;

graph! {
    /// A graph with an array of ports.
    pub struct Part {
        input frame: &Tensor<u8>;
        let cast: Cast = Cast::new();
        frame[0] >> cast.src;
        cast.dst >> _;
    }
}

fn main() {}
