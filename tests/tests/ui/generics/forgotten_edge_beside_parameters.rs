// The forgotten edge is between nodes without parameters, in a graph that nothing makes.
use streamflow::prelude::*;
use streamflow_tests::stereo::{Camera, Cast, FrameSource, Show};

graph! {
    /// A graph with a type parameter.
    pub struct App<S: FrameSource>(source: New<S>) {
        let source: S = source;
        let camera: Camera = Camera::new(10, 1);
        let cast: Cast = Cast::new();
        let show: Show = Show::new(Vec::new());
        source.frame >> _;
        camera.frame >> cast.src;
    }
}

fn main() {}
