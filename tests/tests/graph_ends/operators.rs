//! Operators that several tests of a graph's end use.

use streamflow::prelude::*;

/// A source that sends each number at both outputs.
#[operator]
pub(crate) struct Twice {
    #[output]
    x: u64,
    #[output]
    y: u64,
}

impl Compute for Twice {
    fn compute(&mut self, io: TwiceIo<'_>, cx: &ExecutionContext) -> Result<()> {
        io.x.emit(cx.tick())?;
        io.y.emit(cx.tick())
    }
}

/// An operator that receives a message of `a` in each tick, together with a message of `o` if there is one.
#[operator]
pub(crate) struct Overlay {
    #[input]
    a: &u64,
    #[input(optional)]
    o: &u64,
    pub(crate) taken: u64,
}

impl Compute for Overlay {
    fn compute(&mut self, io: OverlayIo<'_>, _: &ExecutionContext) -> Result<()> {
        io.a.discard();
        self.taken += u64::from(io.o.receive().into_data().is_some());
        Ok(())
    }
}

/// An operator that receives each number, and ignores it.
#[operator]
pub(crate) struct Takes {
    #[input]
    number: &u64,
}

impl Compute for Takes {
    fn compute(&mut self, io: TakesIo<'_>, _: &ExecutionContext) -> Result<()> {
        io.number.discard();
        Ok(())
    }
}
