//! The arguments of a kernel as values on the host: their types, and a launch with them.

use super::Tolerance;
use crate::error::{BodyDifference, Error, Result};
use crate::kernel::{Grid, Kernel, ParamInfo};
use crate::memory::{
    Buffer, DeviceSlice, Element, PitchedTensor, Scalar, TensorView, TensorViewMut,
};
use crate::platform::{Platform, device};
use crate::stream::CudaStream;

/// A kernel whose arguments can be made from values on the host: any kernel with at most 16 arguments.
pub trait KernelValues: Kernel {
    /// The arguments as a tuple. It has a `Vec<T>` for each `&[T]` and `&mut [T]`; the elements and the shape, as `(Vec<T>,
    /// Vec<usize>)`, for each `&Strided<T, N>` and `&mut Strided<T, N>`; and the scalars as they are. The launch gets a `Strided`
    /// argument as a view of a tensor with padded rows. The tuple for `fn axpy(out: &mut [f32], a: f32, x: &[f32])` is
    /// `(Vec<f32>, f32, Vec<f32>)`.
    type Values: Clone;

    /// Launches the kernel with these values, and replaces the values of its `&mut` slices by what it has written.
    #[doc(hidden)]
    fn launch(
        on: &Platform,
        stream: &CudaStream,
        grid: Grid,
        values: &mut Self::Values,
    ) -> Result<()>;

    /// Returns the first difference between the values of the `&mut` slices that the two bodies have written.
    #[doc(hidden)]
    fn first_difference(
        rust: &Self::Values,
        cuda: &Self::Values,
        tolerance: Tolerance,
    ) -> Option<BodyDifference>;

    /// Describes the arguments in a text: the scalars, and the lengths of the slices.
    #[doc(hidden)]
    fn describe(values: &Self::Values) -> String;
}

/// Launches a kernel on a platform, with the body that the platform runs, and returns the values after the launch.
pub(super) fn run<K: KernelValues>(
    platform: &Platform,
    grid: Grid,
    values: &K::Values,
) -> Result<K::Values> {
    let stream = platform.default_stream(device(0))?;
    let mut values = values.clone();
    K::launch(platform, &stream, grid, &mut values)?;
    stream.synchronize_blocking()?;
    Ok(values)
}

/// A type of a kernel's argument, as a launch takes it.
pub trait Argument: Sized {
    /// The type of the argument's value on the host.
    type Value: Clone;
    /// The type of the argument's data on the device.
    type Uploaded;

    fn upload(on: &Platform, stream: &CudaStream, value: &Self::Value) -> Result<Self::Uploaded>;
    fn describe(value: &Self::Value) -> String;

    /// Replaces the value of a `&mut` slice by the content that the slice has on the device. Does nothing for other arguments.
    fn download(
        _stream: &CudaStream,
        _uploaded: &Self::Uploaded,
        _value: &mut Self::Value,
    ) -> Result<()> {
        Ok(())
    }

    /// Returns the first difference between two values of a `&mut` slice. `None` for other arguments.
    fn first_difference(
        _argument: &'static str,
        _rust: &Self::Value,
        _cuda: &Self::Value,
        _tolerance: Tolerance,
    ) -> Option<BodyDifference> {
        None
    }
}

fn uploaded<T: Element>(on: &Platform, stream: &CudaStream, value: &[T]) -> Result<Buffer<T>> {
    let mut buffer = on.buffer(value.len(), stream)?;
    stream.upload_blocking(value, &mut buffer)?;
    Ok(buffer)
}

impl<T: Element> Argument for &DeviceSlice<T> {
    type Value = Vec<T>;
    type Uploaded = Buffer<T>;

    fn upload(on: &Platform, stream: &CudaStream, value: &Vec<T>) -> Result<Buffer<T>> {
        uploaded(on, stream, value)
    }

    fn describe(value: &Vec<T>) -> String {
        format!("of {} elements", value.len())
    }
}

impl<T: Element> Argument for &mut DeviceSlice<T> {
    type Value = Vec<T>;
    type Uploaded = Buffer<T>;

    fn upload(on: &Platform, stream: &CudaStream, value: &Vec<T>) -> Result<Buffer<T>> {
        uploaded(on, stream, value)
    }

    fn describe(value: &Vec<T>) -> String {
        format!("of {} elements", value.len())
    }

    fn download(stream: &CudaStream, uploaded: &Buffer<T>, value: &mut Vec<T>) -> Result<()> {
        *value = stream.download_blocking(uploaded)?;
        Ok(())
    }

    fn first_difference(
        argument: &'static str,
        rust: &Vec<T>,
        cuda: &Vec<T>,
        tolerance: Tolerance,
    ) -> Option<BodyDifference> {
        tolerance.first_difference(argument, rust, cuda)
    }
}

/// Uploads the elements of a view into a new tensor with padded rows.
fn uploaded_rows<T: Element>(
    on: &Platform,
    stream: &CudaStream,
    (values, shape): &(Vec<T>, Vec<usize>),
) -> Result<PitchedTensor<T>> {
    let mut tensor = on.pitched_tensor(&shape[..], stream)?;
    let (source_len, target_len) = (values.len(), tensor.len());
    if source_len != target_len {
        return Err(Error::LengthMismatch { what: "upload", source_len, target_len });
    }
    let cols = shape.last().copied().unwrap_or(1).max(1);
    for (index, row) in values.chunks(cols).enumerate() {
        if let Some(mut target) = tensor.row_mut(index) {
            stream.upload_blocking(row, &mut target)?;
        }
    }
    Ok(tensor)
}

macro_rules! view_argument {
    ($ty:ident, { $($change:tt)* }) => {
        impl<T: Element> Argument for $ty<'_, T> {
            type Value = (Vec<T>, Vec<usize>);
            type Uploaded = PitchedTensor<T>;

            fn upload(
                on: &Platform,
                stream: &CudaStream,
                value: &Self::Value,
            ) -> Result<PitchedTensor<T>> {
                uploaded_rows(on, stream, value)
            }

            fn describe((_, shape): &Self::Value) -> String {
                format!("of shape {shape:?}")
            }

            $($change)*
        }
    };
}
view_argument!(TensorView, {});
view_argument!(TensorViewMut, {
    fn download(
        stream: &CudaStream,
        uploaded: &PitchedTensor<T>,
        (values, _): &mut Self::Value,
    ) -> Result<()> {
        values.clear();
        for row in (0..uploaded.row_count()).filter_map(|index| uploaded.row(index)) {
            values.extend(stream.download_blocking::<T>(&row)?);
        }
        Ok(())
    }

    fn first_difference(
        argument: &'static str,
        (rust, _): &Self::Value,
        (cuda, _): &Self::Value,
        tolerance: Tolerance,
    ) -> Option<BodyDifference> {
        tolerance.first_difference(argument, rust, cuda)
    }
});

impl<'a, T: Element> Borrowed<'a, PitchedTensor<T>> for TensorView<'a, T> {
    fn borrow(uploaded: &'a mut PitchedTensor<T>) -> Self {
        uploaded.view()
    }
}

impl<'a, T: Element> Borrowed<'a, PitchedTensor<T>> for TensorViewMut<'a, T> {
    fn borrow(uploaded: &'a mut PitchedTensor<T>) -> Self {
        uploaded.view_mut()
    }
}

/// An argument of a launch that borrows its data on the device for the lifetime `'a`.
pub trait Borrowed<'a, Uploaded> {
    fn borrow(uploaded: &'a mut Uploaded) -> Self;
}

impl<'a, T: Element> Borrowed<'a, Buffer<T>> for &'a DeviceSlice<T> {
    fn borrow(uploaded: &'a mut Buffer<T>) -> Self {
        uploaded
    }
}

impl<'a, T: Element> Borrowed<'a, Buffer<T>> for &'a mut DeviceSlice<T> {
    fn borrow(uploaded: &'a mut Buffer<T>) -> Self {
        uploaded
    }
}

impl<T: Scalar> Argument for T {
    type Value = T;
    type Uploaded = T;

    fn upload(_: &Platform, _: &CudaStream, value: &T) -> Result<T> {
        Ok(*value)
    }

    fn describe(value: &T) -> String {
        format!("= {value:?}")
    }
}

impl<T: Scalar> Borrowed<'_, T> for T {
    fn borrow(uploaded: &mut T) -> Self {
        *uploaded
    }
}

/// The arguments of a launch: a tuple of [`Argument`]s.
#[diagnostic::on_unimplemented(
    message = "this kernel has no arguments, or more than the 16 that a comparison can have"
)]
pub trait Arguments: Sized {
    type Values: Clone;
    type Uploaded;

    fn upload(on: &Platform, stream: &CudaStream, values: &Self::Values) -> Result<Self::Uploaded>;
    fn download(
        stream: &CudaStream,
        uploaded: &Self::Uploaded,
        values: &mut Self::Values,
    ) -> Result<()>;
    fn first_difference(
        params: &[ParamInfo],
        rust: &Self::Values,
        cuda: &Self::Values,
        tolerance: Tolerance,
    ) -> Option<BodyDifference>;
    fn describe(params: &[ParamInfo], values: &Self::Values) -> String;
}

macro_rules! tuples {
    ($($name:ident $index:tt),*) => {
        impl<$($name: Argument),*> Arguments for ($($name,)*) {
            type Values = ($($name::Value,)*);
            type Uploaded = ($($name::Uploaded,)*);

            fn upload(
                on: &Platform,
                stream: &CudaStream,
                values: &Self::Values,
            ) -> Result<Self::Uploaded> {
                Ok(($($name::upload(on, stream, &values.$index)?,)*))
            }

            fn download(
                stream: &CudaStream,
                uploaded: &Self::Uploaded,
                values: &mut Self::Values,
            ) -> Result<()> {
                $($name::download(stream, &uploaded.$index, &mut values.$index)?;)*
                Ok(())
            }

            fn first_difference(
                params: &[ParamInfo],
                rust: &Self::Values,
                cuda: &Self::Values,
                tolerance: Tolerance,
            ) -> Option<BodyDifference> {
                None$(.or_else(|| {
                    let argument = params[$index].name;
                    $name::first_difference(argument, &rust.$index, &cuda.$index, tolerance)
                }))*
            }

            fn describe(params: &[ParamInfo], values: &Self::Values) -> String {
                [$(format!("`{}` {}", params[$index].name, $name::describe(&values.$index))),*].join(", ")
            }
        }

        impl<'a, $($name: Argument + Borrowed<'a, $name::Uploaded>),*>
            Borrowed<'a, ($($name::Uploaded,)*)> for ($($name,)*)
        {
            fn borrow(uploaded: &'a mut ($($name::Uploaded,)*)) -> Self {
                ($($name::borrow(&mut uploaded.$index),)*)
            }
        }
    };
}
tuples!(A 0);
tuples!(A 0, B 1);
tuples!(A 0, B 1, C 2);
tuples!(A 0, B 1, C 2, D 3);
tuples!(A 0, B 1, C 2, D 3, E 4);
tuples!(A 0, B 1, C 2, D 3, E 4, F 5);
tuples!(A 0, B 1, C 2, D 3, E 4, F 5, G 6);
tuples!(A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7);
tuples!(A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8);
tuples!(A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8, J 9);
tuples!(A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8, J 9, K 10);
tuples!(A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8, J 9, K 10, L 11);
tuples!(A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8, J 9, K 10, L 11, M 12);
tuples!(A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8, J 9, K 10, L 11, M 12, N 13);
tuples!(A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8, J 9, K 10, L 11, M 12, N 13, O 14);
tuples!(A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8, J 9, K 10, L 11, M 12, N 13, O 14, P 15);

/// The types of a kernel's arguments. The lifetime in them makes no difference to the types of the values.
type Of<K> = <K as Kernel>::Args<'static>;
type Values<K> = <Of<K> as Arguments>::Values;
type Uploaded<K> = <Of<K> as Arguments>::Uploaded;

impl<K: Kernel> KernelValues for K
where
    Of<K>: Arguments,
    for<'a> K::Args<'a>: Borrowed<'a, Uploaded<K>>,
{
    type Values = Values<K>;

    fn launch(
        on: &Platform,
        stream: &CudaStream,
        grid: Grid,
        values: &mut Values<K>,
    ) -> Result<()> {
        let mut uploaded = Of::<K>::upload(on, stream, values)?;
        stream.launch::<K>(grid, K::Args::borrow(&mut uploaded))?;
        Of::<K>::download(stream, &uploaded, values)
    }

    fn first_difference(
        rust: &Values<K>,
        cuda: &Values<K>,
        tolerance: Tolerance,
    ) -> Option<BodyDifference> {
        Of::<K>::first_difference(K::INFO.params, rust, cuda, tolerance)
    }

    fn describe(values: &Values<K>) -> String {
        Of::<K>::describe(K::INFO.params, values)
    }
}
