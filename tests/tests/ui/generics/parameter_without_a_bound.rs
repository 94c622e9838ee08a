// The type parameter of a node has no interface.
use streamflow::prelude::*;

graph! {
    /// A graph with a type parameter.
    pub struct App<S>(source: S) {
        let source: S = source;
        source.frame >> _;
    }
}

fn main() {}
