//! The owners of DLPack's structures: a tensor that streamflow has got from another library, or passes to one.

use std::ffi::c_void;
use std::fmt;
use std::mem::ManuallyDrop;
use std::ops::Deref;
use std::ptr::NonNull;

use super::abi::{self, Managed, ManagedVersioned, Plain};
use super::{DlDevice, DlType, refused};
use crate::error::Result;
use crate::memory::MAX_RANK;
use crate::memory::border::Owner;
use crate::memory::border::counts::{self, Count};
use crate::memory::foreign::reaper;

/// A tensor of another library: a `DLManagedTensorVersioned`, or the older `DLManagedTensor`. A `DlTensor` owns the
/// structure: when the `DlTensor` is dropped, a separate thread calls the structure's deleter.
#[must_use = "dropping it gives the tensor back; pass it to `import_dlpack`"]
pub struct DlTensor {
    raw: Raw,
    description: Description,
    /// Whether streamflow made the structure.
    is_ours: bool,
}

/// The pointer to a structure of DLPack, which has one of two layouts.
#[derive(Debug, Clone, Copy)]
enum Raw {
    Versioned(NonNull<ManagedVersioned>),
    Legacy(NonNull<Managed>),
}

// SAFETY: DLPack lets any thread use the structure and call its deleter.
unsafe impl Send for DlTensor {}

/// A copy of the structure's fields.
#[derive(Debug, Clone)]
struct Description {
    address: u64,
    device: DlDevice,
    dtype: DlType,
    shape: Vec<i64>,
    /// The strides, in elements; `None` for a dense tensor.
    strides: Option<Vec<i64>>,
    flags: u64,
}

/// An owner of a structure without a copy of its fields. The drop calls the structure's deleter.
struct Structure(Raw);

// SAFETY: DLPack lets any thread call the structure's deleter.
unsafe impl Send for Structure {}

impl Drop for Structure {
    fn drop(&mut self) {
        // SAFETY: the structure is alive until its deleter is called, and only this drop calls the deleter, once. A
        // structure without a deleter needs no call.
        unsafe {
            match self.0 {
                Raw::Versioned(raw) => {
                    if let Some(deleter) = raw.as_ref().deleter {
                        deleter(raw.as_ptr());
                    }
                }
                Raw::Legacy(raw) => {
                    if let Some(deleter) = raw.as_ref().deleter {
                        deleter(raw.as_ptr());
                    }
                }
            }
        }
    }
}

impl DlTensor {
    /// Takes over a `DLManagedTensorVersioned` by its pointer, for example from a capsule with the name
    /// `dltensor_versioned`.
    ///
    /// # Errors
    /// [`Error::Exchange`](crate::Error::Exchange) for a null pointer, for another major version of DLPack, and for a
    /// structure with a shape that can't be read. If this function returns an error, it has called the deleter.
    ///
    /// # Safety
    /// The pointer is null or the only one to such a structure, and the structure is as DLPack requires. No other code
    /// than the returned value calls the deleter. The [`After`](crate::memory::After) of the import names the work that
    /// has written the content. Other code no longer uses the memory, except by work that is ordered with streamflow's.
    pub unsafe fn from_versioned(pointer: *mut c_void) -> Result<Self> {
        let Some(raw) = NonNull::new(pointer.cast::<ManagedVersioned>()) else {
            return Err(null());
        };
        let structure = Structure(Raw::Versioned(raw));
        // SAFETY: a structure of any version begins with its version and its deleter. The fields after these are read only
        // if the major version is that of `abi`.
        let version = unsafe { (*raw.as_ptr()).version };
        if version.major != abi::VERSION.major {
            return Err(refused(
                format!("its version of DLPack is {}.{}", version.major, version.minor),
                format!("export it with `max_version=({}, 0)`", abi::VERSION.major),
            ));
        }
        // SAFETY: the structure has the layout of `ManagedVersioned`, because its major version was compared.
        let (tensor, flags) = unsafe { ((*raw.as_ptr()).tensor, (*raw.as_ptr()).flags) };
        // SAFETY: the caller guarantees that the structure's pointers are as DLPack requires.
        unsafe { Self::describe(structure, &tensor, flags) }
    }

    /// Takes over a `DLManagedTensor` by its pointer, for example from a capsule with the name `dltensor`. This older
    /// structure has no flags, so the tensor counts as writable.
    ///
    /// # Errors
    /// As for [`from_versioned`](Self::from_versioned).
    ///
    /// # Safety
    /// As for [`from_versioned`](Self::from_versioned).
    pub unsafe fn from_legacy(pointer: *mut c_void) -> Result<Self> {
        let Some(raw) = NonNull::new(pointer.cast::<Managed>()) else { return Err(null()) };
        let structure = Structure(Raw::Legacy(raw));
        // SAFETY: the caller guarantees that this is a structure as DLPack requires.
        unsafe {
            let tensor = (*raw.as_ptr()).tensor;
            Self::describe(structure, &tensor, 0)
        }
    }

    /// # Safety
    /// The pointers of `tensor` are as DLPack requires.
    unsafe fn describe(structure: Structure, tensor: &Plain, flags: u64) -> Result<Self> {
        let Ok(rank @ 0..=MAX_RANK) = usize::try_from(tensor.ndim) else {
            return Err(refused(
                format!("it has {} dimensions", tensor.ndim),
                format!("reshape it to at most {MAX_RANK}"),
            ));
        };
        if rank > 0 && tensor.shape.is_null() {
            return Err(refused("it has no shape", "export it again: its exporter is wrong"));
        }
        // SAFETY: the caller guarantees that the arrays of shape and strides have `ndim` numbers, or that a pointer is null.
        let (shape, strides) = unsafe { (read(tensor.shape, rank), read(tensor.strides, rank)) };
        let address = (tensor.data.expose_provenance() as u64).checked_add(tensor.byte_offset);
        let Some(address) = address else {
            return Err(refused(
                "its offset is too large",
                "export it again: its exporter is wrong",
            ));
        };
        let description = Description {
            address,
            device: DlDevice { kind: tensor.device.kind, id: tensor.device.id },
            dtype: tensor.dtype.into(),
            shape: shape.unwrap_or_default(),
            strides,
            flags,
        };
        let raw = structure.0;
        std::mem::forget(structure);
        Ok(Self { raw, description, is_ours: false })
    }

    /// Creates the owner of a structure that streamflow has made.
    ///
    /// # Safety
    /// As for [`from_versioned`](Self::from_versioned).
    pub(super) unsafe fn made_versioned(raw: NonNull<ManagedVersioned>) -> Result<DlExport> {
        // SAFETY: the caller guarantees what `from_versioned` requires.
        let mut made = unsafe { Self::from_versioned(raw.as_ptr().cast()) }?;
        made.is_ours = true;
        Ok(DlExport(made))
    }

    /// Creates the owner of a structure of the legacy layout that streamflow has made.
    ///
    /// # Safety
    /// As for [`from_legacy`](Self::from_legacy).
    pub(super) unsafe fn made_legacy(raw: NonNull<Managed>) -> Result<DlExport> {
        // SAFETY: the caller guarantees what `from_legacy` requires.
        let mut made = unsafe { Self::from_legacy(raw.as_ptr().cast()) }?;
        made.is_ours = true;
        Ok(DlExport(made))
    }

    /// Whether the structure is a `DLManagedTensorVersioned`.
    pub fn is_versioned(&self) -> bool {
        matches!(self.raw, Raw::Versioned(_))
    }

    /// The dimensions, outermost first.
    pub fn shape(&self) -> &[i64] {
        &self.description.shape
    }

    /// The distances, in elements, between neighbours in each dimension. `None` for a dense tensor without explicit
    /// strides.
    pub fn strides(&self) -> Option<&[i64]> {
        self.description.strides.as_deref()
    }

    /// The type of an element.
    pub fn dtype(&self) -> DlType {
        self.description.dtype
    }

    /// The device of the memory.
    pub fn device(&self) -> DlDevice {
        self.description.device
    }

    /// The address of the first element. An empty tensor may have address 0.
    pub fn address(&self) -> u64 {
        self.description.address
    }

    /// Whether the memory may only be read.
    pub fn is_read_only(&self) -> bool {
        self.description.flags & abi::READ_ONLY != 0
    }

    /// Whether the memory is a copy that its exporter made for this exchange.
    pub fn is_copied(&self) -> bool {
        self.description.flags & abi::IS_COPIED != 0
    }

    /// Returns a guard whose drop calls the deleter.
    pub(super) fn into_owner(self) -> impl Send + 'static {
        Structure(self.into_parts())
    }

    /// Returns the pointer to the structure without calling the deleter.
    fn into_parts(self) -> Raw {
        let mut whole = ManuallyDrop::new(self);
        let Description { shape, strides, .. } = &mut whole.description;
        drop((std::mem::take(shape), strides.take()));
        whole.raw
    }
}

impl Drop for DlTensor {
    fn drop(&mut self) {
        let structure = Structure(self.raw);
        if self.is_ours {
            // The deleter of a structure that streamflow has made waits for nothing, so this thread calls it.
            return drop(structure);
        }
        counts::add(Count::Adopted);
        reaper::give_back_later(Owner::new(structure));
    }
}

impl fmt::Debug for DlTensor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DlTensor<{}>{:?} on {}", self.dtype(), self.shape(), self.device())
    }
}

/// A tensor for another library: a `DLManagedTensorVersioned`, or the older `DLManagedTensor`. A `DlExport` owns the
/// structure: dropping it calls the structure's deleter.
///
/// A `DlExport` can't be imported directly. Only a tensor that has passed through other code is a [`DlTensor`], because
/// that code tells the import which of its work has used the memory.
///
/// ```compile_fail,E0308
/// # use streamflow::memory::After;
/// # use streamflow::memory::dlpack::{Abi, Consumer, DlTensor, Imported};
/// # use streamflow::prelude::*;
/// fn unordered(tensor: Tensor<f32>, platform: &Platform) -> Result<Imported<Tensor<f32>>> {
///     let given = tensor.into_dlpack(Abi::Versioned, Consumer::Unordered)?;
///     Ok(platform.import_dlpack(given, After::Complete)?)
/// }
/// ```
#[must_use = "dropping it ends the export; pass it on by `into_raw`"]
#[derive(Debug)]
pub struct DlExport(DlTensor);

impl DlExport {
    /// The pointer to the structure, for the library that takes it over and calls its deleter.
    pub fn into_raw(self) -> *mut c_void {
        match self.0.into_parts() {
            Raw::Versioned(raw) => raw.as_ptr().cast(),
            Raw::Legacy(raw) => raw.as_ptr().cast(),
        }
    }
}

impl Deref for DlExport {
    type Target = DlTensor;

    fn deref(&self) -> &DlTensor {
        &self.0
    }
}

#[cold]
fn null() -> crate::Error {
    refused("its pointer is null", "export it again: its exporter is wrong")
}

/// Copies the numbers of an array. Returns `None` for a null pointer.
///
/// # Safety
/// The pointer is null or points to `rank` numbers.
unsafe fn read(numbers: *const i64, rank: usize) -> Option<Vec<i64>> {
    if numbers.is_null() {
        return None;
    }
    // The read is unaligned, because other code made the array, perhaps without the alignment of its numbers. SAFETY: the
    // caller guarantees that the array has `rank` numbers.
    Some((0..rank).map(|index| unsafe { numbers.add(index).read_unaligned() }).collect())
}
