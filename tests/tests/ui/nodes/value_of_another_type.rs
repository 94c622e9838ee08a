// A value of another type than the node's operator.
use streamflow::prelude::*;
use streamflow_tests::stereo::{Camera, Cast};

graph! {
    pub struct Wrong(len: u8) {
        let camera: Camera = Camera::new(len, 1);
        let cast: Cast = Camera::new(1, 1);
        camera.frame >> cast.src;
        cast.dst >> _;
    }
}

fn main() {}
