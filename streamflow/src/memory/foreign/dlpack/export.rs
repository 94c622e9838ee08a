//! The export of tensors to other libraries by DLPack.

use std::panic::Location;

use super::abi::{self, Abi};
use super::exported::{Content, dtype_of, make};
use super::{DlDevice, DlExport};
use crate::driver::{AccessMode, Note};
use crate::error::{Error, Result};
use crate::memory::foreign::lent::{Lendable, lend};
use crate::memory::pooled::OwnedBlock;
use crate::memory::{Element, MemoryPool, Shape, Shared, Tensor};
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

impl<T: Element> Tensor<T> {
    /// Lends the tensor to other code, which may read and write it. The memory returns to its pool when the other code has
    /// called the structure's deleter, and is used again only after the work that the device has at that time. Does not
    /// block, unless the consumer is the host.
    ///
    /// # Errors
    /// [`Error::WrongDevice`], [`Error::ForeignPlatform`]; the driver's. After an error the tensor is dropped.
    #[track_caller]
    pub fn into_dlpack(self, abi: Abi, consumer: Consumer<'_>) -> Result<DlExport> {
        let shape = *self.owned_block().shape();
        export::<T>(self, &shape, abi, consumer, 0)
    }
}

impl<T: Element> Tensor<T> {
    /// [`into_dlpack`](Self::into_dlpack) for a tensor that is a copy made for this exchange. The structure has DLPack's flag
    /// `IS_COPIED`.
    ///
    /// # Errors
    /// As for [`into_dlpack`](Self::into_dlpack).
    #[track_caller]
    pub fn into_dlpack_copied(self, abi: Abi, consumer: Consumer<'_>) -> Result<DlExport> {
        let shape = *self.owned_block().shape();
        export::<T>(self, &shape, abi, consumer, abi::IS_COPIED)
    }
}

impl<T: Element> Shared<Tensor<T>> {
    /// Lends the tensor to other code, which may only read it. All else is as for [`Tensor::into_dlpack`].
    ///
    /// # Errors
    /// As for [`Tensor::into_dlpack`]; [`Error::Exchange`] for [`Abi::Legacy`], whose structure has no flag for read-only memory.
    #[track_caller]
    pub fn to_dlpack(&self, abi: Abi, consumer: Consumer<'_>) -> Result<DlExport> {
        if abi == Abi::Legacy {
            return Err(Error::Exchange {
                what: "a shared tensor can't be exported as a `DLManagedTensor`".to_owned(),
                reason: "it may only be read, and that structure can't say so".to_owned(),
                remedy: "take a `DLManagedTensorVersioned`, as with `max_version=(1, 0)`, or copy the tensor"
                    .to_owned(),
            });
        }
        let shape = *self.owned_block().shape();
        export::<T>(self.clone(), &shape, abi, consumer, abi::READ_ONLY)
    }

    /// Lends the tensor to other code, which may read and write it while the tensor has other owners.
    ///
    /// # Errors
    /// As for [`Tensor::into_dlpack`].
    ///
    /// # Safety
    /// The tensor may be written. No other owner uses the tensor while the other code writes it, unless that owner itself
    /// orders its use with the writes.
    #[track_caller]
    pub unsafe fn to_dlpack_writable(&self, abi: Abi, consumer: Consumer<'_>) -> Result<DlExport> {
        let shape = *self.owned_block().shape();
        export::<T>(SharedForWriting(self.clone()), &shape, abi, consumer, 0)
    }
}

/// A shared tensor that is lent to other code for writing.
struct SharedForWriting<T: Element>(Shared<Tensor<T>>);

impl<T: Element> Lendable for SharedForWriting<T> {
    fn owner(&self) -> &OwnedBlock<MemoryPool> {
        self.0.owned_block()
    }

    fn mode(&self) -> AccessMode {
        AccessMode::Write
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
    shape: &Shape,
    abi: Abi,
    consumer: Consumer<'_>,
    flags: u64,
) -> Result<DlExport> {
    let dtype = dtype_of::<T>()?;
    order(memory.owner(), memory.mode(), consumer)?;
    let block = memory.owner();
    let device = block.pool().dlpack_device();
    let address = if shape.count() == 0 { 0 } else { block.range().address };
    make(shape, abi, Content { address, device, dtype, flags, keeper: lend(memory)? })
}

/// Makes the consumer's access, which has this mode, come after the earlier uses of the block that it must come after.
#[track_caller]
fn order(block: &OwnedBlock<MemoryPool>, mode: AccessMode, consumer: Consumer<'_>) -> Result<()> {
    match consumer {
        Consumer::QueuesOn(stream) => {
            block.check(stream, "the tensor to export")?;
            stream.timeline().ready()?;
            block.order_written(stream, mode)?;
            let (stream, range, location) = (stream.raw(), block.range(), Location::caller());
            block.pool().table.observe(&Note::ForeignAccess { stream, range, mode, location });
            Ok(())
        }
        Consumer::HostBlocking => {
            block.check_written(block.range())?;
            block.synchronize(&block.pool().table, mode)
        }
        Consumer::Unordered => block.check_written(block.range()),
    }
}
