use streamflow::prelude::*;

#[derive(Message)]
pub struct Pair<A, B>(pub A, pub B);

pub struct Other;

#[operator]
pub struct Show {
    #[input]
    pair: &Pair<u64, Other>,
}

fn main() {}
