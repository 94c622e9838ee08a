// Other arrows.
use streamflow::prelude::*;
use streamflow_tests::stereo::{Camera, Cast, Show};

graph! {
    pub struct App {
        let camera: Camera = Camera::new(480, 1);
        let cast: Cast = Cast::new();
        let show: Show = Show::new(Vec::new());

        camera.frame -> cast.src;
        cast.dst => show.image;
    }
}

graph! {
    pub struct Other {
        let camera: Camera = Camera::new(480, 1);
        let cast: Cast = Cast::new();
        let show: Show = Show::new(Vec::new());

        camera.frame > cast.src;
        cast.dst << show.image;
        cast.dst | show.image;
    }
}

fn main() {}
