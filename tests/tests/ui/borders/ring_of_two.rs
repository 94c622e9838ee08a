// Two graphs contain each other.
use streamflow::prelude::*;

graph! {
    /// A graph with ports.
    pub struct One {
        input number: &u64;
        let other: Other = Other::new();
        number >> other.number;
    }
}

graph! {
    /// A graph with ports.
    pub struct Other {
        input number: &u64;
        let one: One = One::new();
        number >> one.number;
    }
}

fn main() {}
