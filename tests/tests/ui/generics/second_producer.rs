// Two edges lead to the input of the parameter's operator.
use streamflow::prelude::*;
use streamflow_tests::stereo::{Camera, Cast, Invert, Step};

graph! {
    /// A graph with ports and a type parameter.
    pub struct Part<T: Step>(step: New<T>) {
        output image: Tensor<f32>;
        let camera: Camera = Camera::new(10, 1);
        let one: Cast = Cast::new();
        let other: Cast = Cast::new();
        let step: T = step;
        camera.frame >> (one.src, other.src);
        one.dst >> step.src;
        other.dst >> step.src;
        step.dst >> image;
    }
}

graph! {
    /// An application.
    pub struct App {
        let part: Part<Invert> = Part::new(Invert::new());
        part.image >> _;
    }
}

fn main() {}
