//! Compiled code of another origin, loaded.

use super::Platform;
use crate::driver::DeviceId;
use crate::error::Result;
use crate::kernel::Module;

impl Platform {
    /// Loads compiled code that was not made by [`#[kernel]`](macro@crate::kernel): PTX text, a CUBIN
    /// or a fatbin. It stays loaded as long as the platform lives.
    ///
    /// # Errors
    /// [`Error::NoSuchDevice`](crate::Error::NoSuchDevice); the driver's, when the code is refused. The host simulator
    /// runs no compiled code.
    ///
    /// # Safety
    /// `image` is text, or a complete CUBIN or fatbin. Text that is no PTX is refused; of the other two
    /// the driver reads as many bytes as they say that they have.
    pub unsafe fn module(&self, device: DeviceId, image: &[u8]) -> Result<Module> {
        // SAFETY: the caller keeps the same contract.
        unsafe { Module::load(self.table(device, "`module`")?, device, image) }
    }
}
