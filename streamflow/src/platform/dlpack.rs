//! Tensors of other libraries as tensors of a platform, by DLPack.

use super::{Device, Platform};
use crate::driver::DeviceId;
use crate::error::{Error, Result};
use crate::memory::dlpack::{Access, DlDevice, DlTensor, Imported};
use crate::memory::{After, Element, PitchedTensor, Tensor};

impl Platform {
    /// Takes over a tensor of another library. Work on the tensor comes after the work that `after` names. After the result is
    /// dropped and all its uses are complete, a thread of streamflow calls the tensor's deleter. Does not block.
    ///
    /// # Errors
    /// [`Error::Exchange`] if the elements are not of type `T`, the memory is not on a device of the platform, or the tensor is
    /// not dense; [`Error::Shape`]; the errors of [`adopt_tensor`](Self::adopt_tensor). The deleter is called after an error,
    /// too.
    #[track_caller]
    pub fn import_dlpack<T: Element>(
        &self,
        tensor: DlTensor,
        after: After<'_>,
    ) -> Result<Imported<Tensor<T>>> {
        let pool = &self.holder(tensor.device(), after)?.memory;
        pool.pool().import_dlpack(tensor, after, Access::AsExported)
    }

    /// Takes over a tensor as [`import_dlpack`](Self::import_dlpack) does, but read-only, even if the tensor is not marked so.
    /// This is for arrays that must not be written, of a library that can't mark them.
    ///
    /// # Errors
    /// The errors of [`import_dlpack`](Self::import_dlpack).
    #[track_caller]
    pub fn import_dlpack_read_only<T: Element>(
        &self,
        tensor: DlTensor,
        after: After<'_>,
    ) -> Result<Imported<Tensor<T>>> {
        let pool = &self.holder(tensor.device(), after)?.memory;
        pool.pool().import_dlpack(tensor, after, Access::ReadOnly)
    }

    /// Takes over a tensor as [`import_dlpack`](Self::import_dlpack) does, whose rows may be padded: of strides as
    /// [`Shape::padded_strides`](crate::memory::Shape::padded_strides) allows. Nothing is copied. The padding is neither read nor
    /// written, and there need be none after the last row.
    ///
    /// # Errors
    /// The errors of [`import_dlpack`](Self::import_dlpack), but padded rows are no error.
    #[track_caller]
    pub fn import_dlpack_pitched<T: Element>(
        &self,
        tensor: DlTensor,
        after: After<'_>,
    ) -> Result<Imported<PitchedTensor<T>>> {
        let pool = &self.holder(tensor.device(), after)?.memory;
        pool.pool().import_dlpack_pitched(tensor, after, Access::AsExported)
    }

    /// Takes over a tensor as [`import_dlpack_pitched`](Self::import_dlpack_pitched) does, but read-only, as
    /// [`import_dlpack_read_only`](Self::import_dlpack_read_only).
    ///
    /// # Errors
    /// The errors of [`import_dlpack_pitched`](Self::import_dlpack_pitched).
    #[track_caller]
    pub fn import_dlpack_pitched_read_only<T: Element>(
        &self,
        tensor: DlTensor,
        after: After<'_>,
    ) -> Result<Imported<PitchedTensor<T>>> {
        let pool = &self.holder(tensor.device(), after)?.memory;
        pool.pool().import_dlpack_pitched(tensor, after, Access::ReadOnly)
    }

    /// Returns a device of this platform as DLPack names it.
    ///
    /// # Errors
    /// [`Error::NoSuchDevice`] if the platform has no such device.
    pub fn dlpack_device(&self, device: DeviceId) -> Result<DlDevice> {
        Ok(self.device(device, "`dlpack_device`")?.memory.dlpack_device())
    }

    /// Returns the device of the platform that can use the memory of `device`. If several devices can, the device of the stream
    /// or event in `after` is preferred.
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
