// The attribute is given twice.
use streamflow::prelude::*;

#[operator]
#[streamflow::operator]
pub struct Source {
    #[output]
    number: u64,
}

impl Compute for Source {
    fn compute(&mut self, io: SourceIo<'_>, cx: &ExecutionContext) -> Result<()> {
        io.number.emit(cx.tick())
    }
}

fn main() {}
