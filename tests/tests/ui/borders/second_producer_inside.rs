// Two edges lead to the input of an operator inside, one from outside.
use streamflow::prelude::*;
use streamflow_tests::stereo::{Camera, Cast};

graph! {
    /// A graph with ports.
    pub struct Part {
        input frame: &Tensor<u8>;
        output image: Tensor<f32>;
        let camera: Camera = Camera::new(10, 0);
        let cast: Cast = Cast::new();
        frame >> cast.src;
        camera.frame >> cast.src;
        cast.dst >> image;
    }
}

fn main() {}
