// The bound of the type parameter is no interface.
use streamflow::prelude::*;
use streamflow_tests::stereo::Cast;

graph! {
    /// A graph with a type parameter.
    pub struct App<S: Compute + Send + 'static>(source: S) {
        let source: S = source;
        let cast: Cast = Cast::new();
        source.frame >> cast.src;
        cast.dst >> _;
    }
}

fn main() {}
