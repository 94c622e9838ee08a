//! Tensors for other libraries.

use std::panic::Location;
use std::ptr::NonNull;

use super::abi::{self, Device, Managed, ManagedVersioned, Plain};
use super::{DlDevice, DlTensor, DlType};
use crate::driver::{AccessMode, Note};
use crate::error::{Error, Result};
use crate::memory::foreign::lent::{Lendable, Returner, lend};
use crate::memory::pooled::OwnedBlock;
use crate::memory::{Element, MAX_RANK, MemoryPool, Shape, Shared, Tensor};
use crate::stream::CudaStream;

/// Where other code uses a tensor that it gets.
#[derive(Debug, Clone, Copy)]
pub enum Consumer<'a> {
    /// On this stream. It waits for the work that the tensor comes after; the host does not.
    QueuesOn(&'a CudaStream),
    /// On the host, or where nothing orders it. The calling thread waits for that work.
    HostBlocking,
    /// The other code orders its work itself: DLPack's `stream=-1`.
    Unordered,
}

/// The structure that the other code takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Abi {
    /// `DLManagedTensorVersioned`, of DLPack 1.0 and later.
    Versioned,
    /// `DLManagedTensor`, which has no flags.
    Legacy,
}

/// What the deleter frees: the structure, with what it points to.
#[repr(C)]
struct Exported<S> {
    structure: S,
    shape: [i64; MAX_RANK],
    strides: [i64; MAX_RANK],
    memory: Returner,
}

impl<T: Element> Tensor<T> {
    /// Hands the tensor to other code, which may write it. The memory returns to its pool when the other code has called
    /// the structure's deleter, and is used again only after the work that the device has then. Does not block, unless
    /// the consumer is the host.
    ///
    /// # Errors
    /// [`Error::WrongDevice`], [`Error::ForeignPlatform`]; the driver's. Then the tensor is dropped.
    #[track_caller]
    pub fn into_dlpack(self, abi: Abi, consumer: Consumer<'_>) -> Result<DlTensor> {
        let shape = *self.owned_block().shape();
        export::<T>(self, &shape, abi, consumer, 0)
    }
}

impl<T: Element> Tensor<T> {
    /// As [`into_dlpack`](Self::into_dlpack), for a tensor that is a copy made for this exchange: the structure says so.
    ///
    /// # Errors
    /// As there.
    #[track_caller]
    pub fn into_dlpack_copied(self, abi: Abi, consumer: Consumer<'_>) -> Result<DlTensor> {
        let shape = *self.owned_block().shape();
        export::<T>(self, &shape, abi, consumer, abi::IS_COPIED)
    }
}

impl<T: Element> Shared<Tensor<T>> {
    /// Lets other code read the tensor. Otherwise as [`Tensor::into_dlpack`].
    ///
    /// # Errors
    /// As there; [`Error::Exchange`] for the structure without flags, which can't say that the tensor is read only.
    #[track_caller]
    pub fn to_dlpack(&self, abi: Abi, consumer: Consumer<'_>) -> Result<DlTensor> {
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

    /// Lets other code read and write the tensor, beside its other owners.
    ///
    /// # Errors
    /// As for [`Tensor::into_dlpack`].
    ///
    /// # Safety
    /// The tensor may be written. No other owner uses it while the other code writes it, except after it has ordered
    /// that work itself.
    #[track_caller]
    pub unsafe fn to_dlpack_writable(&self, abi: Abi, consumer: Consumer<'_>) -> Result<DlTensor> {
        let shape = *self.owned_block().shape();
        export::<T>(SharedForWriting(self.clone()), &shape, abi, consumer, 0)
    }
}

/// A shared tensor that other code may write.
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
    /// DLPack's device of this pool's memory.
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
) -> Result<DlTensor> {
    let dtype = DlType::of_name(T::DTYPE).ok_or_else(|| Error::Exchange {
        what: format!("a tensor of {} can't be exported", T::DTYPE),
        reason: "DLPack has no such type".to_owned(),
        remedy: "convert it first".to_owned(),
    })?;
    order(memory.owner(), memory.mode(), consumer)?;
    let block = memory.owner();
    let DlDevice { kind, id } = block.pool().dlpack_device();
    let address = if shape.count() == 0 { 0 } else { block.range().address };
    let tensor = Plain {
        data: std::ptr::with_exposed_provenance_mut(address as usize),
        device: Device { kind, id },
        ndim: shape.dims().len() as i32,
        dtype: dtype.into(),
        shape: std::ptr::null_mut(),
        strides: std::ptr::null_mut(),
        byte_offset: 0,
    };
    let (dims, strides) = (numbers(shape.dims()), numbers(&shape.dense_strides()));
    let memory = lend(memory)?;
    let context = std::ptr::null_mut();
    match abi {
        Abi::Versioned => {
            let (version, deleter) = (abi::VERSION, Some(delete_versioned as _));
            let structure = ManagedVersioned { version, context, deleter, flags, tensor };
            let raw = place(Exported { structure, shape: dims, strides, memory });
            // SAFETY: the structure has the lifetime of the allocation, which its deleter frees.
            unsafe {
                let exported = raw.as_ptr();
                (*exported).structure.context = exported.cast();
                (*exported).structure.tensor.shape = (&raw mut (*exported).shape).cast();
                (*exported).structure.tensor.strides = (&raw mut (*exported).strides).cast();
                DlTensor::made_versioned(raw.cast())
            }
        }
        Abi::Legacy => {
            let structure = Managed { tensor, context, deleter: Some(delete_legacy as _) };
            let raw = place(Exported { structure, shape: dims, strides, memory });
            // SAFETY: as above.
            unsafe {
                let exported = raw.as_ptr();
                (*exported).structure.context = exported.cast();
                (*exported).structure.tensor.shape = (&raw mut (*exported).shape).cast();
                (*exported).structure.tensor.strides = (&raw mut (*exported).strides).cast();
                DlTensor::made_legacy(raw.cast())
            }
        }
    }
}

/// Makes the consumer come after the work that an access of it must come after.
#[track_caller]
fn order(block: &OwnedBlock<MemoryPool>, mode: AccessMode, consumer: Consumer<'_>) -> Result<()> {
    match consumer {
        Consumer::QueuesOn(stream) => {
            block.check(stream, "the tensor to export")?;
            stream.timeline().ready()?;
            block.order(stream, mode)?;
            let (stream, range, location) = (stream.raw(), block.range(), Location::caller());
            block.pool().table.tell(&Note::ForeignAccess { stream, range, mode, location });
            Ok(())
        }
        Consumer::HostBlocking => block.synchronize(&block.pool().table, mode),
        Consumer::Unordered => Ok(()),
    }
}

fn numbers(values: &[usize]) -> [i64; MAX_RANK] {
    let mut numbers = [0; MAX_RANK];
    // A shape's numbers fit: its bytes do.
    numbers.iter_mut().zip(values).for_each(|(number, value)| *number = *value as i64);
    numbers
}

/// The first field is at the address of the whole.
fn place<S>(exported: Exported<S>) -> NonNull<Exported<S>> {
    NonNull::from(Box::leak(Box::new(exported)))
}

unsafe extern "C" fn delete_versioned(structure: *mut ManagedVersioned) {
    // SAFETY: the caller owns a structure of `export`, and calls its deleter once.
    unsafe { delete::<ManagedVersioned>((*structure).context.cast()) }
}

unsafe extern "C" fn delete_legacy(structure: *mut Managed) {
    // SAFETY: as above.
    unsafe { delete::<Managed>((*structure).context.cast()) }
}

/// Adds the memory to the list of what is taken back: no more, since the caller may hold any lock.
///
/// # Safety
/// The pointer came from [`place`], and is not used again.
unsafe fn delete<S>(exported: *mut Exported<S>) {
    // SAFETY: as the caller says.
    let exported = unsafe { Box::from_raw(exported) };
    exported.memory.give_back();
}
