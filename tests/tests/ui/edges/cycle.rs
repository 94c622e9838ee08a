// Operators that would wait for each other.
use streamflow::prelude::*;
use streamflow_tests::stereo::{Fuse, Invert};

graph! {
    pub struct Loop {
        let a: Invert = Invert::new();
        let b: Invert = Invert::new();
        let fuse: Fuse = Fuse::new();

        a.dst >> (b.src);
        b.dst >> fuse.left;
        fuse.depth >> a.src;
        b.dst >> fuse.right;
    }
}

fn main() {}
