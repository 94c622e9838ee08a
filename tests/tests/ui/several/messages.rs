// Messages: one that borrows, one that is an enum, and one with a field that is not a message.
use streamflow::prelude::*;

pub struct Camera;

#[derive(Message)]
pub struct Lent<'a> {
    name: &'a str,
}

#[derive(Message)]
pub enum Either {
    Image(Tensor<f32>),
    Number(u64),
}

#[derive(Message)]
pub struct Frame {
    image: Tensor<f32>,
    camera: Camera,
}

fn main() {}
