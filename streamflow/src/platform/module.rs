//! `Platform::module`: loads compiled code that `#[kernel]` did not make.

use super::Platform;
use crate::driver::DeviceId;
use crate::error::Result;
use crate::kernel::{CompiledCode, Module};

impl Platform {
    /// Loads compiled code that was not made by [`#[kernel]`](macro@crate::kernel). The code stays loaded as long as the platform
    /// exists.
    ///
    /// # Errors
    /// [`Error::NoSuchDevice`](crate::Error::NoSuchDevice); errors of the driver if it refuses the code. The simulator refuses
    /// all compiled code.
    pub fn module(&self, device: DeviceId, code: CompiledCode<'_>) -> Result<Module> {
        Module::load(self.table(device, "`module`")?, device, code)
    }
}
