// The edge has an index at a single port of a graph.
use streamflow::prelude::*;
use streamflow_tests::stereo::{Camera, Cast, Show};

graph! {
    /// A graph with single ports.
    pub struct Part {
        input frame: &Tensor<u8>;
        output image: Tensor<f32>;
        let cast: Cast = Cast::new();
        frame >> cast.src;
        cast.dst >> image;
    }
}

graph! {
    /// A graph with a graph.
    pub struct App {
        let camera: Camera = Camera::new(70, 1);
        let part: Part = Part::new();
        let show: Show = Show::new(Vec::new());
        camera.frame >> part.frame[0];
        part.image >> show.image;
    }
}

fn main() {}
