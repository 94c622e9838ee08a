// The condition names a port that the operator doesn't have.
use streamflow::prelude::*;
use streamflow_tests::stereo::{Camera, Cast, Fuse};

graph! {
    pub struct Partners {
        #[when(count(3))]
        let camera: Camera = Camera::new(8, 1);
        let cast: Cast = Cast::new();
        #[when(same_sequence([left, rihgt]))]
        let pair: Fuse = Fuse::new();
        camera.frame >> cast.src;
        cast.dst >> (pair.left, pair.right);
        pair.depth >> _;
    }
}

fn main() {}
