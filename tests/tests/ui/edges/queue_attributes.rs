// Capacities and policies of an edge.
use streamflow::prelude::*;
use streamflow_tests::stereo::{Camera, Cast, Counter, Show};

graph! {
    pub struct Queues {
        #[capacity(2)]
        let camera: Camera = Camera::new(1, 1);
        let cast: Cast = Cast::new();
        let again: Cast = Cast::new();
        let counter: Counter = Counter::new();
        let show: Show = Show::new(Vec::new());
        #[capacity(0)] #[policy(pop, reject)]
        camera.frame >> cast.src;
        #[capacity] #[policy(drop)]
        camera.frame >> again.src;
        #[policy(rejct)]
        counter.number >> show.label;
        #[capacity(1)] #[capacity(2)] #[policy(pop)] #[policy(fault)]
        cast.dst >> show.image;
        #[policy(pop)]
        again.dst >> _;
    }
}

fn main() {}
