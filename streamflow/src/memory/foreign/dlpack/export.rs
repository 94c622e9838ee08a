//! The export of tensors to other libraries by DLPack.

use std::panic::Location;

use super::abi::{self, Abi};
use super::exported::{Content, dtype_of, make};
use super::{DlDevice, DlExport};
use crate::driver::{AccessMode, MemoryRange, Note, Rows};
use crate::error::{Error, Result};
use crate::memory::foreign::lent::{Lendable, lend};
use crate::memory::pooled::OwnedBlock;
use crate::memory::{Element, MemoryPool, PitchedTensor, Shape, Shared, Strides, Tensor};
use crate::stream::CudaStream;

/// Where the consumer of an exported tensor uses the tensor.
#[derive(Debug, Clone, Copy)]
pub enum Consumer<'a> {
    /// The consumer uses the tensor on this stream. The stream waits for the earlier uses of the tensor that the consumer
    /// must come after. The host does not wait.
    QueuesOn(&'a CudaStream),
    /// The consumer uses the tensor on the host, or elsewhere without a stream. The calling thread waits for the earlier uses
    /// of the tensor that the consumer must come after.
    HostBlocking,
    /// The consumer itself orders its work after the earlier uses of the tensor: DLPack's `stream=-1`.
    Unordered,
}

macro_rules! exports {
    ($($tensor:ident),*) => {$(
        impl<T: Element> $tensor<T> {
            /// Lends the tensor to other code, which may read and write it. The memory returns to its pool when the other code
            /// has called the structure's deleter, and is used again only after the work that the device has at that time. The
            /// structure has the tensor's strides. Does not block, unless the consumer is the host.
            ///
            /// # Errors
            /// [`Error::WrongDevice`], [`Error::ForeignPlatform`]; the driver's. After an error the tensor is dropped.
            #[track_caller]
            pub fn into_dlpack(self, abi: Abi, consumer: Consumer<'_>) -> Result<DlExport> {
                let layout = (*self.dims(), self.strides());
                export::<T>(self, &layout, abi, consumer, 0)
            }
        }

        impl<T: Element> Shared<$tensor<T>> {
            /// Lends the tensor to other code, which may only read it. All else is as for [`Tensor::into_dlpack`].
            ///
            /// # Errors
            /// As for [`Tensor::into_dlpack`]; [`Error::Exchange`] for [`Abi::Legacy`], whose structure has no flag for
            /// read-only memory.
            #[track_caller]
            pub fn to_dlpack(&self, abi: Abi, consumer: Consumer<'_>) -> Result<DlExport> {
                if abi == Abi::Legacy {
                    return Err(can_not_say_read_only());
                }
                let layout = (*self.dims(), self.strides());
                export::<T>(self.clone(), &layout, abi, consumer, abi::READ_ONLY)
            }

            /// Lends the tensor to other code, which may read and write it while the tensor has other owners.
            ///
            /// # Errors
            /// As for [`Tensor::into_dlpack`].
            ///
            /// # Safety
            /// The tensor may be written. No other owner uses the tensor while the other code writes it, unless that owner
            /// itself orders its use with the writes.
            #[track_caller]
            pub unsafe fn to_dlpack_writable(
                &self,
                abi: Abi,
                consumer: Consumer<'_>,
            ) -> Result<DlExport> {
                let layout = (*self.dims(), self.strides());
                export::<T>(SharedForWriting(self.clone()), &layout, abi, consumer, 0)
            }
        }
    )*};
}
exports!(Tensor, PitchedTensor);

impl<T: Element> Tensor<T> {
    /// [`into_dlpack`](Self::into_dlpack) for a tensor that is a copy made for this exchange. The structure has DLPack's flag
    /// `IS_COPIED`.
    ///
    /// # Errors
    /// As for [`into_dlpack`](Self::into_dlpack).
    #[track_caller]
    pub fn into_dlpack_copied(self, abi: Abi, consumer: Consumer<'_>) -> Result<DlExport> {
        let layout = (*self.dims(), self.strides());
        export::<T>(self, &layout, abi, consumer, abi::IS_COPIED)
    }
}

#[cold]
fn can_not_say_read_only() -> Error {
    Error::Exchange {
        what: "a shared tensor can't be exported as a `DLManagedTensor`".to_owned(),
        reason: "it may only be read, and that structure can't say so".to_owned(),
        remedy:
            "take a `DLManagedTensorVersioned`, as with `max_version=(1, 0)`, or copy the tensor"
                .to_owned(),
    }
}

/// A shared tensor that is lent to other code for writing.
struct SharedForWriting<M>(Shared<M>);

impl<M: Lendable + Sync> Lendable for SharedForWriting<M> {
    fn owner(&self) -> &OwnedBlock<MemoryPool> {
        self.0.owner()
    }

    fn mode(&self) -> AccessMode {
        AccessMode::Write
    }

    fn touched(&self) -> (MemoryRange, Option<Rows>) {
        self.0.touched()
    }
}

impl MemoryPool {
    /// The device of this pool's memory, in DLPack's terms.
    pub(crate) fn dlpack_device(&self) -> DlDevice {
        match self.ordinal {
            Some(ordinal) => DlDevice { kind: DlDevice::CUDA, id: ordinal as i32 },
            None => DlDevice { kind: DlDevice::CPU, id: 0 },
        }
    }
}

#[track_caller]
fn export<T: Element>(
    memory: impl Lendable,
    (shape, strides): &(Shape, Strides),
    abi: Abi,
    consumer: Consumer<'_>,
    flags: u64,
) -> Result<DlExport> {
    let dtype = dtype_of::<T>()?;
    order(&memory, consumer)?;
    let block = memory.owner();
    let device = block.pool().dlpack_device();
    let address = if shape.count() == 0 { 0 } else { block.range().address };
    make(shape, strides, abi, Content { address, device, dtype, flags, keeper: lend(memory)? })
}

/// Makes the consumer's access to the memory come after the earlier uses of its block that it must come after.
#[track_caller]
fn order(memory: &impl Lendable, consumer: Consumer<'_>) -> Result<()> {
    let (block, mode) = (memory.owner(), memory.mode());
    match consumer {
        Consumer::QueuesOn(stream) => {
            block.check(stream, "the tensor to export")?;
            stream.timeline().ready()?;
            block.order_written(stream, mode)?;
            let (stream, location) = (stream.raw(), Location::caller());
            let (range, rows) = memory.touched();
            let access = Note::ForeignAccess { stream, range, rows, mode, location };
            block.pool().table.observe(&access);
            Ok(())
        }
        Consumer::HostBlocking => {
            block.check_written(block.range())?;
            block.synchronize(&block.pool().table, mode)
        }
        Consumer::Unordered => block.check_written(block.range()),
    }
}
