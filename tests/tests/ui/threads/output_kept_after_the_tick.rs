// An output that is kept for later.
use streamflow::port::Out;
use streamflow::prelude::*;

#[operator]
pub struct Counter {
    #[output]
    number: u64,
}

thread_local! {
    static KEPT: std::cell::RefCell<Option<Out<'static, u64, streamflow::port::Unset>>> = const { std::cell::RefCell::new(None) };
}

impl Compute for Counter {
    fn compute(&mut self, io: CounterIo<'_>, _: &ExecutionContext) -> Result<()> {
        KEPT.with(|kept| *kept.borrow_mut() = Some(io.number));
        Ok(())
    }
}

fn main() {}
