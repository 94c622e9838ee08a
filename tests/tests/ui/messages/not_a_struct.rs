use streamflow::prelude::*;

#[derive(Message)]
pub enum Nothing {}

#[derive(Message)]
pub union Both {
    left: f32,
    right: u32,
}

// They are still messages.
#[operator]
pub struct Show {
    #[input]
    nothing: &Nothing,
    #[input]
    both: &Both,
}

fn main() {}
