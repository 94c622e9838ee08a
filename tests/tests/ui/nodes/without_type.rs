// Nodes without a type, without an operator, with more than a name.
use streamflow::prelude::*;
use streamflow_tests::stereo::{Camera, Cast};

graph! {
    pub struct Untyped {
        let camera = Camera::new(1, 1);
        let cast: Cast;
        let mut again: Cast = Cast::new();
        let (a, b): Cast = Cast::new();
        camera.frame >> (cast.src, again.src);
        cast.dst >> _;
        again.dst >> _;
    }
}

fn main() {}
