//! Operators of several of these tests.

use streamflow::prelude::*;

/// Sends each number to both outputs.
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

/// Takes a message of `o`, if there is one, with each of `a`.
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

/// Takes each number.
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
