// A condition on partners that names no two inputs, or that another condition could replace.
use streamflow::prelude::*;
use streamflow_tests::stereo::{Camera, Cast, Fuse};

graph! {
    pub struct Partners {
        #[when(count(3))]
        let camera: Camera = Camera::new(8, 1);
        let cast: Cast = Cast::new();
        #[when(same_sequence([left]))]
        let one: Fuse = Fuse::new();
        #[when(same_sequence([left, left]))]
        let twice: Fuse = Fuse::new();
        #[when(same_sequence(left, right))]
        let bare: Fuse = Fuse::new();
        #[when(any(same_sequence, periodic(1s)))]
        let either: Fuse = Fuse::new();
        #[when(same_sequence, same_sequence([left, right]))]
        let both: Fuse = Fuse::new();
        camera.frame >> cast.src;
        cast.dst >> (one.left, one.right);
        cast.dst >> (twice.left, twice.right);
        cast.dst >> (bare.left, bare.right);
        cast.dst >> (either.left, either.right);
        cast.dst >> (both.left, both.right);
        one.depth >> _;
        twice.depth >> _;
        bare.depth >> _;
        either.depth >> _;
        both.depth >> _;
    }
}

fn main() {}
