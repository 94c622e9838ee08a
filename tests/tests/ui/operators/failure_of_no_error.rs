//! A hook passes on something that is no error.

use streamflow::prelude::*;

#[operator]
struct Reader {
    #[output]
    number: u64,
}

fn read() -> Result<u64, String> {
    Err("no file".to_owned())
}

impl Compute for Reader {
    fn compute(&mut self, io: ReaderIo<'_>, _: &ExecutionContext) -> Result<()> {
        io.number.emit(read()?)
    }
}

fn main() {}
