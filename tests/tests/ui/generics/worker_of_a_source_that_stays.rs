// The operator of the parameter must be on the thread of the run, and the node names a worker.
use streamflow::prelude::*;

operator_interface! {
    /// A source of numbers.
    pub trait Source {
        output number: u64;
    }
}

/// An operator.
#[operator(stays, implements(Source))]
pub struct Window {
    #[output]
    number: u64,
}

impl Compute for Window {
    fn compute(&mut self, io: WindowIo<'_>, cx: &ExecutionContext) -> Result<()> {
        io.number.emit(cx.tick())
    }
}

graph! {
    /// A graph with ports and a type parameter.
    pub struct Part<S: Source>(source: New<S>) {
        output number: u64;
        #[worker(one)]
        let source: S = source;
        source.number >> number;
    }
}

graph! {
    /// An application.
    pub struct App {
        let part: Part<Window> = Part::new(Window::new());
        part.number >> _;
    }
}

fn main() {}
