// Two ports of the graph are one port inside, by two spellings of its index.
use streamflow::prelude::*;
use streamflow_tests::stereo::Cast;

const FIRST: usize = 0;

graph! {
    /// A graph with ports.
    pub struct Part {
        input image: Tensor<u8>;
        input more: Tensor<u8>;
        let casts: [Cast; 1] = |_| Cast::new();
        image >> casts[0].src;
        more >> casts[FIRST].src;
        casts[0].dst >> _;
    }
}

fn main() {}
