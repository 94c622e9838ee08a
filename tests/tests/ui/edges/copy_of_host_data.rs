// A message that can't be copied, beside host data that can.
use streamflow::prelude::*;
use streamflow_tests::stereo::Counter;

pub struct Handle;

#[operator]
pub struct Open {
    #[output]
    handle: HostData<Handle>,
}

impl Compute for Open {
    fn compute(&mut self, io: OpenIo<'_>, _: &ExecutionContext) -> Result<()> {
        io.handle.emit(HostData(Handle))
    }
}

#[operator]
pub struct Use {
    #[input]
    handle: HostData<Handle>,
    #[input]
    number: u64,
}

impl Compute for Use {
    fn compute(&mut self, io: UseIo<'_>, _: &ExecutionContext) -> Result<()> {
        io.handle.discard();
        io.number.discard();
        Ok(())
    }
}

graph! {
    pub struct Copies {
        let counter: Counter = Counter::new();
        let open: Open = Open::new();
        let user: Use = Use::new();
        #[copy]
        counter.number >> user.number;
        #[copy]
        open.handle >> user.handle;
    }
}

fn main() {}
