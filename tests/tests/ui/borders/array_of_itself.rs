// The graph contains an array of itself.
use streamflow::prelude::*;

graph! {
    /// A graph with ports.
    pub struct Part {
        input number: &u64;
        let parts: [Part; 2] = |_| Part::new();
        number >> parts[0].number;
    }
}

fn main() {}
