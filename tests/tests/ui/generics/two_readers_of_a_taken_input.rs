// The step takes its input, which has another reader, in a graph that nothing makes.
use streamflow::prelude::*;
use streamflow_tests::stereo::{Camera, Cast, Show, Step};

graph! {
    /// A graph with a type parameter.
    pub struct App<T: Step>(step: New<T>) {
        let camera: Camera = Camera::new(10, 1);
        let cast: Cast = Cast::new();
        let step: T = step;
        let show: Show = Show::new(Vec::new());
        camera.frame >> cast.src;
        cast.dst >> (step.src, show.image);
        step.dst >> _;
    }
}

fn main() {}
