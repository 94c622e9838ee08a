//! The import of other libraries' tensors by DLPack.

use std::sync::Arc;

use super::{DlDevice, DlTensor, DlType, refused};
use crate::driver::DeviceId;
use crate::error::{Error, Result};
use crate::memory::foreign::adopt::{After, ForeignMemory, check_layout};
use crate::memory::{Element, MemoryPool, Shape, Shared, Tensor};

/// A tensor that another library has exported, as a tensor of streamflow.
#[derive(Debug)]
pub enum Imported<T: Element> {
    /// A tensor whose memory may be read and written.
    Writable(Tensor<T>),
    /// A tensor whose memory may only be read.
    ReadOnly(Shared<Tensor<T>>),
}

impl<T: Element> Imported<T> {
    /// The tensor, to be written.
    ///
    /// # Errors
    /// [`Error::Exchange`] if the tensor may only be read.
    pub fn into_writable(self) -> Result<Tensor<T>> {
        match self {
            Self::Writable(tensor) => Ok(tensor),
            Self::ReadOnly(_) => Err(Error::Exchange {
                what: "the DLPack tensor can't be written".to_owned(),
                reason: "its exporter has set the flag `READ_ONLY`".to_owned(),
                remedy: "take it by `into_shared`, or export a copy".to_owned(),
            }),
        }
    }

    /// The tensor, to be read.
    pub fn into_shared(self) -> Shared<Tensor<T>> {
        match self {
            Self::Writable(tensor) => Shared::new(tensor),
            Self::ReadOnly(shared) => shared,
        }
    }
}

/// Whether an import may write the memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    /// The access that the exporter allows: for a read-only structure the import makes a tensor that can't be written.
    AsExported,
    /// Only reads, whatever the exporter allows.
    ReadOnly,
}

impl MemoryPool {
    /// Whether this pool's device can use memory of `device`, which is a device in DLPack's terms.
    pub(crate) fn reaches(&self, device: DlDevice) -> bool {
        match self.ordinal {
            // A GPU reads page-locked memory at its host address.
            Some(_) if device.kind == DlDevice::CUDA_HOST => true,
            Some(ordinal) => {
                matches!(device.kind, DlDevice::CUDA | DlDevice::CUDA_MANAGED)
                    && device.id == ordinal as i32
            }
            None => matches!(device.kind, DlDevice::CPU | DlDevice::CUDA_HOST),
        }
    }

    #[track_caller]
    pub(crate) fn import_dlpack<T: Element>(
        self: &Arc<Self>,
        tensor: DlTensor,
        after: After<'_>,
        access: Access,
    ) -> Result<Imported<T>> {
        let shape = tensor.dense_shape::<T>()?;
        let is_read_only = tensor.is_read_only() || access == Access::ReadOnly;
        let (device, address, bytes): (DeviceId, _, _) =
            (self.device(), tensor.address(), shape.bytes::<T>());
        // SAFETY: the exporter guarantees that the memory is valid until the deleter is called. The caller of
        // `DlTensor::from_versioned` or `from_legacy` has guaranteed that the exporter follows DLPack.
        let memory = unsafe { ForeignMemory::new(device, address, bytes, tensor.into_owner()) };
        Ok(if is_read_only {
            Imported::ReadOnly(self.adopt_shared(memory, &shape, after)?)
        } else {
            Imported::Writable(self.adopt_tensor(memory, &shape, after)?)
        })
    }
}

impl DlTensor {
    /// The shape, after a check that this is a dense tensor of elements `T`. If the memory is on the host, the elements are
    /// at [`address`](Self::address), one after the other.
    ///
    /// # Errors
    /// [`Error::Exchange`] for elements of another type, for a dimension below 0, for a tensor that is not dense, and for an
    /// address that is not aligned; [`Error::Shape`], also for memory beyond the last possible address.
    pub fn dense_shape<T: Element>(&self) -> Result<Shape> {
        if Some(self.dtype()) != DlType::of_name(T::DTYPE) {
            return Err(refused(
                format!("its elements are {}, and {} is needed", self.dtype(), T::DTYPE),
                "import it with its own type, or convert it before",
            ));
        }
        let dims: Option<Vec<usize>> =
            self.shape().iter().map(|dim| usize::try_from(*dim).ok()).collect();
        let Some(dims) = dims else {
            return Err(refused(
                format!("its shape is {:?}", self.shape()),
                "export it again: its exporter is wrong",
            ));
        };
        let shape = Shape::new(&dims)?;
        let is_dense = self.strides().is_none_or(|strides| {
            let dense = shape.dense_strides();
            let dims = dims.iter().zip(strides.iter().zip(dense.iter()));
            shape.count() == 0
                || dims
                    .into_iter()
                    .all(|(&dim, (&stride, &dense))| dim == 1 || stride == dense as i64)
        });
        if !is_dense {
            return Err(refused(
                format!("its strides {:?} are not those of a dense array", self.strides()),
                "make it contiguous before, as by `numpy.ascontiguousarray` or `.contiguous()`",
            ));
        }
        check_layout::<T>(self.address(), &shape)?;
        Ok(shape)
    }
}
