//! Tensors of other libraries as tensors of a platform.

use super::{Device, Platform};
use crate::driver::DeviceId;
use crate::error::{Error, Result};
use crate::memory::dlpack::{Access, DlDevice, DlTensor, Imported};
use crate::memory::{After, Element};

impl Platform {
    /// Takes over a tensor of another library. Work on the tensor comes after `after`. When it is dropped and all its
    /// uses are complete, its deleter is called, on a thread of streamflow. Does not block.
    ///
    /// # Errors
    /// [`Error::Exchange`] for other elements than `T`, memory of another device, or a tensor that is not dense;
    /// [`Error::Shape`]; as for [`adopt_tensor`](Self::adopt_tensor). Then the deleter is called, too.
    #[track_caller]
    pub fn import_dlpack<T: Element>(
        &self,
        tensor: DlTensor,
        after: After<'_>,
    ) -> Result<Imported<T>> {
        let pool = &self.holder(tensor.device(), after)?.memory;
        pool.pool().import_dlpack(tensor, after, Access::AsExported)
    }

    /// The same as [`import_dlpack`](Self::import_dlpack), but the result is read-only, whatever the tensor says: for
    /// arrays that must not be written, of a library that has no way to say so.
    ///
    /// # Errors
    /// As for [`import_dlpack`](Self::import_dlpack).
    #[track_caller]
    pub fn import_dlpack_read_only<T: Element>(
        &self,
        tensor: DlTensor,
        after: After<'_>,
    ) -> Result<Imported<T>> {
        let pool = &self.holder(tensor.device(), after)?.memory;
        pool.pool().import_dlpack(tensor, after, Access::ReadOnly)
    }

    /// A device of this platform, in DLPack's terms.
    ///
    /// # Errors
    /// [`Error::NoSuchDevice`].
    pub fn dlpack_device(&self, device: DeviceId) -> Result<DlDevice> {
        Ok(self.device(device, "`dlpack_device`")?.memory.dlpack_device())
    }

    /// The device for memory of a device in DLPack's terms. If several devices fit, the device of the stream is preferred.
    fn holder(&self, device: DlDevice, after: After<'_>) -> Result<&Device> {
        let preferred = match after {
            After::QueuedOn(stream) => Some(stream.device()),
            After::Event(event) => Some(event.device()),
            After::Complete => None,
        };
        let preferred = preferred.and_then(|device| self.0.devices.get(device.index()));
        let all = preferred.into_iter().chain(&self.0.devices);
        let found = all.into_iter().find(|it| it.memory.reaches(device));
        found.ok_or_else(|| {
            let own = self.0.devices.first().map(|it| it.memory.dlpack_device().to_string());
            Error::Exchange {
                what: "the DLPack tensor can't be imported".to_owned(),
                reason: format!(
                    "its memory is on {device}, and platform `{}` has {}",
                    self.name(),
                    own.unwrap_or_default()
                ),
                remedy: "copy it to a device of the platform, as by `Platform::upload`".to_owned(),
            }
        })
    }
}
