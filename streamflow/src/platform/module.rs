//! Loading compiled code that `#[kernel]` did not make.

use super::Platform;
use crate::driver::DeviceId;
use crate::error::Result;
use crate::kernel::Module;

impl Platform {
    /// Loads compiled code that [`#[kernel]`](macro@crate::kernel) did not make: PTX text, a CUBIN
    /// or a fatbin. It stays loaded as long as the platform lives.
    ///
    /// # Errors
    /// [`Error::NoSuchDevice`](crate::Error::NoSuchDevice); the driver's, when it refuses the code. The host
    /// simulator runs no compiled code.
    ///
    /// # Safety
    /// `image` is text, or a complete CUBIN or fatbin. Text that is not PTX is refused. Of a CUBIN or fatbin the
    /// driver reads as many bytes as its header says.
    pub unsafe fn module(&self, device: DeviceId, image: &[u8]) -> Result<Module> {
        // SAFETY: the caller keeps the same contract.
        unsafe { Module::load(self.table(device, "`module`")?, device, image) }
    }
}
