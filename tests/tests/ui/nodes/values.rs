// Types and values that end too early.
use streamflow::prelude::*;
use streamflow_tests::stereo::{Camera, Cast, Show};

graph! {
    pub struct App(count: u64) {
        let camera: = Camera::new(1, 1);
        let cast: Cast = Cast::new() +;
        let show: Vec<;
        #[when(count(2 *))]
        let other: Show = Show::new(Vec::new());
        #[when(count(count, 3))]
        let again: Show = Show::new(Vec::new());

        camera.frame >> cast.src;
        cast.dst >> (other.image, again.image);
    }
}

fn main() {}
