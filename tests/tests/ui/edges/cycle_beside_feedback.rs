// One edge of each cycle must be a feedback edge; this graph has two cycles.
use streamflow::prelude::*;
use streamflow_tests::stereo::{Fuse, Invert};

graph! {
    pub struct Loop {
        let a: Invert = Invert::new();
        let fuse: Fuse = Fuse::new();
        let b: Invert = Invert::new();
        a.dst >> fuse.left;
        #[feedback(initial = start(platform)?)]
        fuse.depth >> a.src;
        #[copy]
        fuse.depth >> b.src;
        b.dst >> fuse.right;
    }
}

fn start(platform: &Platform) -> Result<Tensor<f32>, Error> {
    platform.tensor([1], &platform.default_stream(device(0))?)
}

fn main() {}
