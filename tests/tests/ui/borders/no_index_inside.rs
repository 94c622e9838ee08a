// The edge inside names an array of ports of the graph in it without an index.
use streamflow::prelude::*;
use streamflow_tests::stereo::Cast;

graph! {
    /// A graph with an array of ports.
    pub struct Part {
        input frames: [&Tensor<u8>; 2];
        let casts: [Cast; 2] = |_| Cast::new();
        for i in 0..2 {
            frames[i] >> casts[i].src;
            casts[i].dst >> _;
        }
    }
}

graph! {
    /// A graph with that graph.
    pub struct Around {
        input frame: &Tensor<u8>;
        let part: Part = Part::new();
        frame >> part.frames;
    }
}

fn main() {}
