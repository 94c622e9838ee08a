// A feedback edge needs a message for the first tick.
use streamflow::prelude::*;
use streamflow_tests::stereo::{Fuse, Invert};

graph! {
    pub struct Loop {
        let a: Invert = Invert::new();
        let b: Invert = Invert::new();
        let fuse: Fuse = Fuse::new();

        a.dst >> b.src;
        #[feedback]
        b.dst >> fuse.left;
        #[feedback(initial)]
        fuse.depth >> a.src;
        #[feedback(first = 1.0)] #[feedback(initial = 2.0)]
        b.dst >> fuse.right;
    }
}

fn main() {}
