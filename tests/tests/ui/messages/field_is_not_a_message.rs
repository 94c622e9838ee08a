use streamflow::prelude::*;

pub struct Camera {
    pub name: String,
}

#[derive(Message)]
pub struct Frame {
    pub image: Tensor<f32>,
    pub camera: Camera,
}

#[operator]
pub struct Show {
    #[input]
    frame: &Frame,
}

fn main() {}
