//! The import of other libraries' tensors by DLPack.

use std::sync::Arc;

use super::{DlDevice, DlTensor, DlType, refused};
use crate::error::{Error, Result};
use crate::memory::foreign::adopt::{After, ForeignMemory, check_layout};
use crate::memory::pitch::{Pitch, REMEDY};
use crate::memory::{Element, MemoryPool, PitchedTensor, Shape, Shared, Strides, Tensor};

/// A tensor that another library has exported, as a tensor of streamflow: a [`Tensor`], or a [`PitchedTensor`] if its rows may be
/// padded.
#[derive(Debug)]
pub enum Imported<M> {
    /// A tensor whose memory may be read and written.
    Writable(M),
    /// A tensor whose memory may only be read.
    ReadOnly(Shared<M>),
}

impl<M> Imported<M> {
    /// The tensor, to be written.
    ///
    /// # Errors
    /// [`Error::Exchange`] if the tensor may only be read.
    pub fn into_writable(self) -> Result<M> {
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
    pub fn into_shared(self) -> Shared<M> {
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
    ) -> Result<Imported<Tensor<T>>> {
        let shape = tensor.dense_shape::<T>()?;
        let is_read_only = tensor.is_read_only() || access == Access::ReadOnly;
        let memory = self.memory_of(tensor, shape.bytes::<T>());
        let tensor = self.adopt_tensor(memory, &shape, after)?;
        Ok(Imported::of(tensor, is_read_only))
    }

    #[track_caller]
    pub(crate) fn import_dlpack_pitched<T: Element>(
        self: &Arc<Self>,
        tensor: DlTensor,
        after: After<'_>,
        access: Access,
    ) -> Result<Imported<PitchedTensor<T>>> {
        let (shape, pitch) = tensor.rows::<T>()?;
        let is_read_only = tensor.is_read_only() || access == Access::ReadOnly;
        // The memory ends with the last element. The padding behind the last row may not be there.
        let memory = self.memory_of(tensor, Shape::bytes_of::<T>(pitch.span(&shape)));
        let tensor = self.adopt_rows(memory, (&shape, pitch), after)?;
        Ok(Imported::of(tensor, is_read_only))
    }

    fn memory_of(&self, tensor: DlTensor, bytes: u64) -> ForeignMemory {
        let address = tensor.address();
        // SAFETY: the exporter guarantees that the memory is valid until the deleter is called. The caller of
        // `DlTensor::from_versioned` or `from_legacy` has guaranteed that the exporter follows DLPack.
        unsafe { ForeignMemory::new(self.device(), address, bytes, tensor.into_owner()) }
    }
}

impl<M> Imported<M> {
    fn of(tensor: M, is_read_only: bool) -> Self {
        match is_read_only {
            true => Self::ReadOnly(Shared::read_only(tensor)),
            false => Self::Writable(tensor),
        }
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
        let (shape, pitch) = self.rows::<T>()?;
        if pitch.span(&shape) == shape.count() {
            return Ok(shape);
        }
        Err(refused(
            format!(
                "its shape is {shape:?} and its strides are {:?} elements, so its rows are padded, and {:?} are those of a dense \
                 array",
                pitch.strides(&shape),
                shape.dense_strides()
            ),
            format!("import it by `import_dlpack_pitched`, or {REMEDY}"),
        ))
    }

    /// The shape and the strides in elements, after a check that this is a tensor of elements `T` which is dense, or whose rows
    /// are padded as [`Shape::padded_strides`] allows.
    ///
    /// # Errors
    /// As for [`dense_shape`](Self::dense_shape), but padded rows are no error.
    pub fn padded_shape<T: Element>(&self) -> Result<(Shape, Strides)> {
        let (shape, pitch) = self.rows::<T>()?;
        Ok((shape, pitch.strides(&shape)))
    }

    /// The shape and the layout of the rows, after the checks of [`padded_shape`](Self::padded_shape).
    fn rows<T: Element>(&self) -> Result<(Shape, Pitch)> {
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
        let pitch = match self.strides() {
            None => Pitch::dense(&shape),
            Some(strides) => {
                Pitch::of_strides(&shape, strides).map_err(|reason| refused(reason, REMEDY))?
            }
        };
        check_layout::<T>(self.address(), &Shape::of_slice(pitch.span(&shape)))?;
        Ok((shape, pitch))
    }
}
