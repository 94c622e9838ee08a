//! Writers of a value's `Debug` form, and a closure, that call the library for the same value.

use std::fmt::{self, Write};
use std::sync::Arc;

use streamflow::driver::Recorder;
use streamflow::operator::AsyncHandle;
use streamflow::prelude::*;
use streamflow_driver::driver::Call;
use streamflow_tests::setup::recorded;
use streamflow_tests::{Failed, check, check_equal};

/// A writer that calls a function for each piece of text.
struct Calls<F>(F, String);

impl<F: FnMut()> Write for Calls<F> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        (self.0)();
        self.1.push_str(text);
        Ok(())
    }
}

/// Writes a value's `Debug` form, and calls a function for each piece of it.
fn written(value: &dyn fmt::Debug, call: impl FnMut()) -> Result<String, Failed> {
    let mut to = Calls(call, String::new());
    write!(to, "{value:?}")?;
    Ok(to.1)
}

pub(crate) fn of_a_pool() -> Result<(), Failed> {
    let platform = Platform::host().build()?;
    let pool = platform.stream_pool("POOL", &CudaStreamPool::new())?;
    let stream = pool.allocate("a")?;
    let text = written(&pool, || assert_eq!(pool.in_use(), 1))?;
    check(text.contains("POOL"), || text)?;
    written(&stream, || assert_eq!(pool.in_use(), 1)).map(drop)
}

pub(crate) fn of_a_handle() -> Result<(), Failed> {
    let handle = AsyncHandle::new();
    written(&handle, || drop(handle.notify())).map(drop)
}

pub(crate) fn of_a_recorder() -> Result<(), Failed> {
    let (recorder, platform): (Arc<Recorder>, _) =
        recorded(Platform::host().build()?.driver().clone())?;
    platform.upload(&[1_u8])?;
    let all = recorder.calls().len();
    let is_known = |call: &Call| recorder.calls().contains(call);
    check_equal(recorder.count(is_known), all)?;
    written(&recorder, || drop(recorder.calls())).map(drop)
}
