use streamflow::prelude::*;

#[derive(Message)]
pub enum Either {
    Image(Tensor<f32>),
    Text(String),
}

#[derive(Message)]
pub union Both {
    left: f32,
    right: u32,
}

// They are still messages.
#[operator]
pub struct Show {
    #[input]
    either: &Either,
    #[input]
    both: &Both,
}

fn main() {}
