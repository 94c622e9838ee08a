use streamflow::prelude::*;

#[derive(Message)]
pub struct Named<'a> {
    pub name: &'a String,
}

fn main() {}
