// A condition on downloads of messages that have none.
use streamflow::prelude::*;
use streamflow_tests::stereo::{Camera, Cast, Counter, Show};

graph! {
    pub struct Conditions {
        let counter: Counter = Counter::new();
        let camera: Camera = Camera::new(1, 1);
        let cast: Cast = Cast::new();
        #[when(host_done(label), any(host_done(image), periodic(1s)))]
        let show: Show = Show::new(Vec::new());
        counter.number >> show.label;
        camera.frame >> cast.src;
        cast.dst >> show.image;
    }
}

fn main() {}
