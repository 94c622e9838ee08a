// A condition on a port that does not exist.
use streamflow::prelude::*;
use streamflow_tests::stereo::{Camera, Cast, Counter, Show};

graph! {
    pub struct Conditions {
        let counter: Counter = Counter::new();
        let camera: Camera = Camera::new(1, 1);
        let cast: Cast = Cast::new();
        #[when(stream_done(imge))]
        let show: Show = Show::new(Vec::new());
        counter.number >> show.label;
        camera.frame >> cast.src;
        cast.dst >> show.image;
    }
}

fn main() {}
