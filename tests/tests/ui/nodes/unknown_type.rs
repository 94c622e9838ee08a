// A type that does not exist.
use streamflow::prelude::*;
use streamflow_tests::stereo::Camera;

graph! {
    pub struct Wrong {
        let camera: Camera = Camera::new(1, 1);
        let cast: Cats = Cats::new();
        camera.frame >> cast.src;
    }
}

fn main() {}
