// Reserved names.
use streamflow::prelude::*;
use streamflow_tests::stereo::Camera;

graph! {
    pub struct Names(platform: usize, len: usize, len: usize) {
        let run: Camera = Camera::new(1, 1);
        let eye: Camera = Camera::new(len, 1);
        let eye_mut: Camera = Camera::new(1, 1);
        run.frame >> _;
        eye.frame >> _;
        eye_mut.frame >> _;
        len.frame >> _;
    }
}

fn main() {}
