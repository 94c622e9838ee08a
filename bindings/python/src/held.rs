//! Tensors whose element type is known only at run time.

use std::any::Any;

use streamflow::memory::dlpack::{Abi, Consumer, DlExport, Imported};
use streamflow::memory::{AnyTensor as Elements, PitchedTensor};
use streamflow::{CudaStream, Element, Error, Platform, Shared, Tensor};

/// A tensor of an element type that is known only at run time.
pub(crate) trait AnyTensor: Any + Send + Sync {
    fn dtype(&self) -> &'static str;
    fn shape(&self) -> &[usize];
    fn len(&self) -> usize;
    /// The strides, in elements.
    fn strides(&self) -> Vec<usize>;
    /// The size of an element, in bytes.
    fn item_size(&self) -> usize;
    /// Whether there is padding between the rows.
    fn is_padded(&self) -> bool;
    fn is_read_only(&self) -> bool;

    /// Exports the tensor to another library. The library may write the tensor unless it is read only.
    fn export(&self, abi: Abi, consumer: Consumer<'_>) -> Result<DlExport, Error>;

    /// Notes a use of the tensor on `stream`, and returns the address. The use covers all work that is queued on `stream` until
    /// the next use of the tensor on another stream.
    fn use_on(&self, stream: &CudaStream) -> Result<u64, Error>;

    /// Makes a stream wait for all uses of the tensor.
    fn order_before(&self, stream: &CudaStream) -> Result<(), Error>;

    /// Copies the tensor to new, dense memory of the same device.
    fn copied(&self, on: &Platform, stream: &CudaStream) -> Result<Box<dyn AnyTensor>, Error>;

    /// Copies the tensor to new, dense memory of the same device, in a structure for another library.
    fn export_copy(
        &self,
        on: &Platform,
        stream: &CudaStream,
        abi: Abi,
        consumer: Consumer<'_>,
    ) -> Result<DlExport, Error>;

    /// Copies the tensor to host memory, in a structure for another library. Blocks until the copy is complete.
    fn export_to_host(&self, stream: &CudaStream, abi: Abi) -> Result<DlExport, Error>;
}

/// A tensor behind the trait [`AnyTensor`]: a `Tensor`, or a `PitchedTensor` if there is padding between its rows.
pub(crate) struct Held<M> {
    tensor: Shared<M>,
    read_only: bool,
}

impl<M> Held<M>
where
    Self: AnyTensor,
{
    pub(crate) fn writable(tensor: M) -> Box<dyn AnyTensor> {
        Box::new(Self { tensor: Shared::new(tensor), read_only: false })
    }

    pub(crate) fn read_only(tensor: Shared<M>) -> Box<dyn AnyTensor> {
        Box::new(Self { tensor, read_only: true })
    }

    /// Returns the tensor itself, if it may be written and has no other owner.
    ///
    /// # Errors
    /// This value unchanged, if another owner exists or the tensor is read only.
    pub(crate) fn into_sole(self) -> Result<M, Self> {
        if self.read_only {
            return Err(self);
        }
        self.tensor.try_unwrap().map_err(|tensor| Self { tensor, read_only: false })
    }

    pub(crate) fn imported(imported: Imported<M>) -> Box<dyn AnyTensor> {
        match imported {
            Imported::Writable(tensor) => Self::writable(tensor),
            Imported::ReadOnly(tensor) => Self::read_only(tensor),
        }
    }
}

macro_rules! held {
    ($($tensor:ident),*) => {$(
        impl<T: Element> Held<$tensor<T>> {
            fn copy_on(&self, on: &Platform, stream: &CudaStream) -> Result<Tensor<T>, Error> {
                let mut copy = on.tensor::<T>(self.shape(), stream)?;
                stream.copy(&self.tensor, &mut copy)?;
                Ok(copy)
            }
        }

        impl<T: Element> AnyTensor for Held<$tensor<T>> {
            fn dtype(&self) -> &'static str {
                T::DTYPE
            }

            fn shape(&self) -> &[usize] {
                self.tensor.shape()
            }

            fn len(&self) -> usize {
                self.tensor.len()
            }

            fn strides(&self) -> Vec<usize> {
                self.tensor.strides().to_vec()
            }

            fn item_size(&self) -> usize {
                size_of::<T>()
            }

            fn is_padded(&self) -> bool {
                !self.tensor.view().is_contiguous()
            }

            fn is_read_only(&self) -> bool {
                self.read_only
            }

            fn export(&self, abi: Abi, consumer: Consumer<'_>) -> Result<DlExport, Error> {
                if self.read_only {
                    return self.tensor.to_dlpack(abi, consumer);
                }
                // SAFETY: the tensor is not read only. Tensors in Python have no exclusive owner: a program that writes a tensor
                // in one library and uses it in another at the same time has a race on its numbers, as with two NumPy
                // arrays of the same memory.
                unsafe { self.tensor.to_dlpack_writable(abi, consumer) }
            }

            fn use_on(&self, stream: &CudaStream) -> Result<u64, Error> {
                if self.read_only {
                    return stream.read_raw(&Elements::bytes(&*self.tensor), |address| address);
                }
                // SAFETY: as in `export`. A library that gets the address gets the strides, too.
                unsafe { self.tensor.write_raw(stream, |address| address) }
            }

            fn order_before(&self, stream: &CudaStream) -> Result<(), Error> {
                self.tensor.order_before(stream)
            }

            fn copied(
                &self,
                on: &Platform,
                stream: &CudaStream,
            ) -> Result<Box<dyn AnyTensor>, Error> {
                self.copy_on(on, stream).map(Held::writable)
            }

            fn export_copy(
                &self,
                on: &Platform,
                stream: &CudaStream,
                abi: Abi,
                consumer: Consumer<'_>,
            ) -> Result<DlExport, Error> {
                self.copy_on(on, stream)?.into_dlpack_copied(abi, consumer)
            }

            fn export_to_host(&self, stream: &CudaStream, abi: Abi) -> Result<DlExport, Error> {
                stream.download_dlpack_blocking(&self.tensor, abi)
            }
        }
    )*};
}
held!(Tensor, PitchedTensor);
