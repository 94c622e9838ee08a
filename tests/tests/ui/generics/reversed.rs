// The edge begins at an input of the interface, in a graph that nothing makes.
use streamflow::prelude::*;
use streamflow_tests::stereo::{Camera, Cast, Step};

graph! {
    /// A graph with a type parameter.
    pub struct App<T: Step>(step: New<T>) {
        let camera: Camera = Camera::new(10, 1);
        let cast: Cast = Cast::new();
        let step: T = step;
        camera.frame >> cast.src;
        step.src >> cast.dst;
        step.dst >> _;
    }
}

fn main() {}
