// An output that is neither read nor discarded.
use streamflow::prelude::*;
use streamflow_tests::stereo::{Camera, Cast, Fuse};

graph! {
    /// Two cameras.
    pub struct Stereo {
        let left: Camera = Camera::new(10, 0);
        let right: Camera = Camera::new(10, 1);
        let cast: Cast = Cast::new();
        let again: Cast = Cast::new();
        let fuse: Fuse = Fuse::new();

        left.frame >> cast.src;
        right.frame >> again.src;
        cast.dst >> fuse.left;
        again.dst >> fuse.right;
    }
}

fn main() {}
