// The operator's input has another message than that of the interface.
use streamflow::prelude::*;

operator_interface! {
    /// A sink of numbers.
    pub trait Sink {
        input number: &u64;
    }
}

/// An operator.
#[operator(implements(Sink))]
pub struct Show {
    #[input]
    number: &f64,
}

impl Compute for Show {
    fn compute(&mut self, io: ShowIo<'_>, _: &ExecutionContext) -> Result<()> {
        println!("{}", io.number.receive().into_data());
        Ok(())
    }
}

fn main() {}
