// Conditions on more messages than the edges hold.
use streamflow::prelude::*;
use streamflow_tests::stereo::{Camera, Cast, Counter, Show};

graph! {
    pub struct Conditions {
        let counter: Counter = Counter::new();
        let camera: Camera = Camera::new(1, 1);
        #[when(message_available(src, 2))]
        let cast: Cast = Cast::new();
        #[when(multi_message([label, image], sum(6)), multi_message([label, image], each(4, 2)))]
        let show: Show = Show::new(Vec::new());
        #[capacity(4)]
        counter.number >> show.label;
        camera.frame >> cast.src;
        cast.dst >> show.image;
    }
}

fn main() {}
