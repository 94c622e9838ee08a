// Two spellings of an index mean one node.
use streamflow::prelude::*;
use streamflow_tests::stereo::Cast;

const LENGTH: usize = 2;

graph! {
    /// A graph with ports.
    pub struct Part {
        input image: Tensor<u8>;
        output cast: Tensor<f32>;
        input more: Tensor<u8>;
        let casts: [Cast; LENGTH] = |_| Cast::new();
        image >> casts[0].src;
        more >> casts[1].src;
        casts[LENGTH - 2].dst >> cast;
        casts[1].dst >> _;
    }
}

fn main() {}
