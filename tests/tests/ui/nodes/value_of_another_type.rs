// A value that is no such operator.
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
