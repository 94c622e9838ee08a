// Unknown attributes of an edge.
use streamflow::prelude::*;
use streamflow_tests::stereo::{Camera, Cast};

graph! {
    pub struct Attributes {
        let camera: Camera = Camera::new(1, 1);
        let cast: Cast = Cast::new();
        let again: Cast = Cast::new();
        #[cpy]
        camera.frame >> cast.src;
        #[streams(none)]
        #[replay]
        #[wen(count(3))]
        #[count(3)]
        #[allow(unused)]
        camera.frame >> again.src;
        #[copy]
        cast.dst >> _;
        #[feedback]
        #[copy(deep)]
        again.dst >> _;
    }
}

fn main() {}
