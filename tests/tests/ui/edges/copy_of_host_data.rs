// A message that can't be copied.
use streamflow::prelude::*;
use streamflow_tests::stereo::{Camera, Cast, Counter, Show};

graph! {
    pub struct Copies {
        let counter: Counter = Counter::new();
        let camera: Camera = Camera::new(1, 1);
        let cast: Cast = Cast::new();
        let show: Show = Show::new(Vec::new());
        camera.frame >> cast.src;
        cast.dst >> show.image;
        #[copy]
        counter.number >> show.label;
    }
}

fn main() {}
