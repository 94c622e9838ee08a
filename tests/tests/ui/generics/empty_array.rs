// The constant parameter makes an array empty.
use streamflow::prelude::*;
use streamflow_tests::stereo::{Camera, Cast, FrameSource};

graph! {
    /// A graph with ports and parameters.
    pub struct Part<S: FrameSource, const N: usize>(source: fn(usize) -> New<S>) {
        output image: Tensor<f32>;
        let sources: [S; N] = |i| source(i);
        let casts: [Cast; N] = |_| Cast::new();
        for i in 0..N {
            sources[i].frame >> casts[i].src;
        }
        casts[0].dst >> image;
    }
}

graph! {
    /// An application.
    pub struct App {
        let part: Part<Camera, 0> = Part::new(|i| Camera::new(10, i as u8));
        part.image >> _;
    }
}

fn main() {}
