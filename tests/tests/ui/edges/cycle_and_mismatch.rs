// A cycle whose closing edge also has the wrong type.
use streamflow::prelude::*;
use streamflow_tests::stereo::{Camera, Cast, Fuse};

graph! {
    pub struct Loop {
        let camera: Camera = Camera::new(1, 1);
        let cast: Cast = Cast::new();
        let fuse: Fuse = Fuse::new();

        camera.frame >> _;
        cast.dst >> (fuse.left, fuse.right);
        fuse.depth >> cast.src;
    }
}

fn main() {}
