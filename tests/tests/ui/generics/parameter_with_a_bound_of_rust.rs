// The bounds of the type parameter are traits of the standard library.
use streamflow::prelude::*;

graph! {
    /// A graph with a type parameter.
    pub struct App<S: Send + 'static>(source: S) {
        let source: S = source;
        source.frame >> _;
    }
}

fn main() {}
