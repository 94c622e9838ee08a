// Two operators inside are in a cycle.
use streamflow::prelude::*;
use streamflow_tests::stereo::{Fuse, Invert};

graph! {
    /// A graph with ports.
    pub struct Part {
        input image: &Tensor<f32>;
        output depth: Shared<Tensor<f32>>;
        let fuse: Fuse = Fuse::new();
        let invert: Invert = Invert::new();
        image >> fuse.left;
        invert.dst >> fuse.right;
        #[copy]
        fuse.depth >> invert.src;
        fuse.depth >> depth;
    }
}

fn main() {}
