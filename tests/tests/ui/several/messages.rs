// Messages: one that borrows, one that is a union, and one with a field that is not a message.
use streamflow::prelude::*;

pub struct Camera;

#[derive(Message)]
pub struct Lent<'a> {
    name: &'a str,
}

#[derive(Message)]
pub union Either {
    float: f32,
    number: u32,
}

#[derive(Message)]
pub struct Frame {
    image: Tensor<f32>,
    camera: Camera,
}

fn main() {}
