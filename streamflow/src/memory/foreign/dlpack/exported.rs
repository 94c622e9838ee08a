//! The structures of DLPack that streamflow makes for other libraries.

use std::ffi::c_void;
use std::ptr::NonNull;

use super::abi::{self, Abi, Device, Managed, ManagedVersioned, Plain};
use super::{DlDevice, DlExport, DlTensor, DlType};
use crate::error::{Error, Result};
use crate::memory::foreign::lent::Returner;
use crate::memory::{Element, MAX_RANK, Shape, Strides};

/// A value that keeps the memory of a structure alive.
pub(super) trait Keeper: Send {
    /// Gives the memory back. The caller may be any thread, and may hold any lock.
    fn give_back(self);
}

impl Keeper for Returner {
    /// Adds the memory to the pool's list of returned memory. The pool takes it back later.
    fn give_back(self) {
        Returner::give_back(self);
    }
}

/// The values, except the shape and the strides, from which a structure is made.
pub(super) struct Content<K> {
    pub(super) address: u64,
    pub(super) device: DlDevice,
    pub(super) dtype: DlType,
    pub(super) flags: u64,
    pub(super) keeper: K,
}

/// The host allocation of an exported structure: the structure, the arrays that it points to, and the value that keeps the
/// tensor's memory alive. The structure's deleter frees this allocation.
#[repr(C)]
struct Exported<S, K> {
    structure: S,
    shape: [i64; MAX_RANK],
    strides: [i64; MAX_RANK],
    keeper: K,
}

/// The type of the elements `T` in DLPack's terms.
///
/// # Errors
/// [`Error::Exchange`] for a type that DLPack does not have.
pub(super) fn dtype_of<T: Element>() -> Result<DlType> {
    DlType::of_name(T::DTYPE).ok_or_else(|| Error::Exchange {
        what: format!("a tensor of {} can't be exported", T::DTYPE),
        reason: "DLPack has no such type".to_owned(),
        remedy: "convert it first".to_owned(),
    })
}

/// Makes the structure of a tensor with this shape and these strides, in one of the two layouts.
pub(super) fn make<K: Keeper>(
    shape: &Shape,
    strides: &Strides,
    abi: Abi,
    content: Content<K>,
) -> Result<DlExport> {
    let Content { address, device, dtype, flags, keeper } = content;
    let tensor = Plain {
        data: std::ptr::with_exposed_provenance_mut(address as usize),
        device: Device { kind: device.kind, id: device.id },
        ndim: shape.dims().len() as i32,
        dtype: dtype.into(),
        shape: std::ptr::null_mut(),
        strides: std::ptr::null_mut(),
        byte_offset: 0,
    };
    let (dims, strides) = (numbers(shape.dims()), numbers(strides));
    let context = std::ptr::null_mut();
    match abi {
        Abi::Versioned => {
            let (version, deleter) = (abi::VERSION, Some(delete_versioned::<K> as _));
            let structure = ManagedVersioned { version, context, deleter, flags, tensor };
            let exported = Exported { structure, shape: dims, strides, keeper };
            let raw = place(exported, |it| (&mut it.context, &mut it.tensor));
            // SAFETY: the structure lives as long as its allocation, which only its deleter frees.
            unsafe { DlTensor::made_versioned(raw.cast()) }
        }
        Abi::Legacy => {
            let structure = Managed { tensor, context, deleter: Some(delete_legacy::<K> as _) };
            let exported = Exported { structure, shape: dims, strides, keeper };
            let raw = place(exported, |it| (&mut it.context, &mut it.tensor));
            // SAFETY: the structure lives as long as its allocation, which only its deleter frees.
            unsafe { DlTensor::made_legacy(raw.cast()) }
        }
    }
}

fn numbers(values: &[usize]) -> [i64; MAX_RANK] {
    let mut numbers = [0; MAX_RANK];
    // Each number of a shape or of its strides fits into an `i64`, because the shape's number of bytes fits.
    numbers.iter_mut().zip(values).for_each(|(number, value)| *number = *value as i64);
    numbers
}

/// Moves `exported` into an allocation that only the structure's deleter frees, and sets the structure's pointers into that
/// allocation. `parts` returns the fields `context` and `tensor` of the structure. The structure is the first field, so a
/// pointer to the allocation is also a pointer to the structure.
fn place<S, K>(
    exported: Exported<S, K>,
    parts: impl FnOnce(&mut S) -> (&mut *mut c_void, &mut Plain),
) -> NonNull<Exported<S, K>> {
    let whole = NonNull::from(Box::leak(Box::new(exported)));
    let raw = whole.as_ptr();
    // SAFETY: the allocation was just made, no other code has its address, and its fields don't overlap.
    unsafe {
        let (context, tensor) = parts(&mut (*raw).structure);
        *context = raw.cast();
        tensor.shape = (&raw mut (*raw).shape).cast();
        tensor.strides = (&raw mut (*raw).strides).cast();
    }
    whole
}

unsafe extern "C" fn delete_versioned<K: Keeper>(structure: *mut ManagedVersioned) {
    // SAFETY: the caller owns a structure that `make` has made, and calls its deleter once.
    unsafe { delete::<ManagedVersioned, K>((*structure).context.cast()) }
}

unsafe extern "C" fn delete_legacy<K: Keeper>(structure: *mut Managed) {
    // SAFETY: the caller owns a structure that `make` has made, and calls its deleter once.
    unsafe { delete::<Managed, K>((*structure).context.cast()) }
}

/// Gives the tensor's memory back and frees the structure. A deleter may do no more than this, because its caller may hold
/// any lock.
///
/// # Safety
/// The pointer came from [`place`], and is not used again.
unsafe fn delete<S, K: Keeper>(exported: *mut Exported<S, K>) {
    // SAFETY: the caller guarantees that the pointer came from `place`, so from a box, and is not used again.
    let exported = unsafe { Box::from_raw(exported) };
    exported.keeper.give_back();
}
