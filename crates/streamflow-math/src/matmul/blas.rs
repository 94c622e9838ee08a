//! cuBLAS's functions of vectors, and the product of a matrix and a vector: the type `Blas`.

use super::host::leave_anything_in;
use super::numbers::{BlasElement, sum_of_products};
use super::triangle_bodies;
use crate::Plan;
use crate::error::BodyError;
use crate::error::{Result, wrong_operand};
use crate::ffi::cublas::Handle;
use streamflow::Tensor;
use streamflow::library::Call;
use streamflow::library::{HostBody, Operands};
use streamflow::memory::DeviceSlice;
use streamflow::{ExecutionContext, Stream};

/// cuBLAS's functions of vectors and triangles, on one stream. A field of an operator has the type [`Plan<Blas<T>>`](Plan),
/// made by [`on`](Self::on).
///
/// Results stay on the device: [`dot`](Plan::dot) and [`norm`](Plan::norm) write one element.
#[derive(Debug)]
pub struct Blas<T: BlasElement> {
    pub(super) handle: Handle,
    axpy: HostBody,
    dot: HostBody,
    norm: HostBody,
    gemv: HostBody,
    pub(super) trsm: HostBody,
    pub(super) syrk: HostBody,
    of: std::marker::PhantomData<fn() -> T>,
}

impl<T: BlasElement> Blas<T> {
    /// Makes a handle on a stream of the operator, with its work area: the call is for [`start`](streamflow::Compute::start).
    /// On a GPU the work area has the size that cuBLAS's documentation advises: 32 MiB from compute capability 9.0 on, and 4
    /// MiB before.
    ///
    /// # Errors
    /// An error if the library is not there; the library's own error; the driver's error, when memory is exhausted.
    pub fn on(cx: &ExecutionContext, stream: &Stream<'_>) -> Result<Plan<Self>> {
        let blas = Self {
            handle: Handle::with_work_area(cx, stream)?,
            axpy: HostBody::new("cublasaxpy", axpy::<T>),
            dot: HostBody::new("cublasdot", dot::<T>),
            norm: HostBody::new("cublasnrm2", norm::<T>),
            gemv: HostBody::new("cublasgemv", gemv::<T>),
            trsm: HostBody::new("cublastrsm", triangle_bodies::trsm::<T>),
            syrk: HostBody::new("cublassyrk", triangle_bodies::syrk::<T>),
            of: std::marker::PhantomData,
        };
        Ok(Plan::new(stream, blas))
    }
}

impl<T: BlasElement> Plan<Blas<T>> {
    /// Queues `y = alpha x + y`.
    ///
    /// # Errors
    /// [`Error::OtherStream`](streamflow::Error::OtherStream); [`Error::Operand`](crate::Error::Operand) for vectors of
    /// unequal lengths, or of 2^31 or more elements; the library's error; the driver's error.
    #[track_caller]
    pub fn axpy(
        &mut self,
        stream: &Stream<'_>,
        alpha: T,
        x: &DeviceSlice<T>,
        y: &mut DeviceSlice<T>,
    ) -> Result<()> {
        let checked = self.lend(stream).and_then(|blas| {
            same("Blas::axpy", "x", x.len(), "y", y.len())?;
            Call::needs(y)?;
            Ok(blas)
        });
        let blas = Call::written(checked, y)?;
        if y.is_empty() {
            return Ok(());
        }
        Call::written(blas.handle.axpy(stream, &blas.axpy, (alpha, x), y), y)
    }

    /// Queues the dot product of two vectors. The result is one element, and is 0 for empty vectors.
    ///
    /// # Errors
    /// [`Error::OtherStream`](streamflow::Error::OtherStream); [`Error::Operand`](crate::Error::Operand) for vectors of
    /// unequal lengths, or of 2^31 or more elements, and for a result of more than one element; the library's error;
    /// the driver's error.
    #[track_caller]
    pub fn dot(
        &mut self,
        stream: &Stream<'_>,
        x: &DeviceSlice<T>,
        y: &DeviceSlice<T>,
        result: &mut DeviceSlice<T>,
    ) -> Result<()> {
        let checked = self.lend(stream).and_then(|blas| {
            same("Blas::dot", "x", x.len(), "y", y.len())?;
            one("Blas::dot", result.len())?;
            Ok(blas)
        });
        let blas = Call::written(checked, result)?;
        if x.is_empty() {
            return stream.fill_bytes(result, 0);
        }
        Call::overwrites(result);
        Call::written(blas.handle.dot(stream, &blas.dot, (x, y), result), result)
    }

    /// Queues the Euclidean norm of a vector. The result is one element, and is 0 for an empty vector.
    ///
    /// # Errors
    /// The errors of [`dot`](Self::dot).
    #[track_caller]
    pub fn norm(
        &mut self,
        stream: &Stream<'_>,
        x: &DeviceSlice<T>,
        result: &mut DeviceSlice<T>,
    ) -> Result<()> {
        let checked = self.lend(stream).and_then(|blas| {
            same("Blas::norm", "x", x.len(), "x", x.len())?;
            one("Blas::norm", result.len())?;
            Ok(blas)
        });
        let blas = Call::written(checked, result)?;
        if x.is_empty() {
            return stream.fill_bytes(result, 0);
        }
        Call::overwrites(result);
        Call::written(blas.handle.nrm2(stream, &blas.norm, x, result), result)
    }

    /// Queues `y = alpha a x + beta y`. The matrix `a` is `[m, n]`, `x` has `n` elements, and `y` has `m`. If `beta` is 0, `y` is
    /// not read.
    ///
    /// # Errors
    /// [`Error::OtherStream`](streamflow::Error::OtherStream); [`Error::Operand`](crate::Error::Operand) for other
    /// lengths, a matrix without columns, or 2^31 or more elements in a dimension; the library's error; the driver's
    /// error.
    #[track_caller]
    pub fn gemv(
        &mut self,
        stream: &Stream<'_>,
        (alpha, a, x): (T, &Tensor<T>, &DeviceSlice<T>),
        (beta, y): (T, &mut DeviceSlice<T>),
    ) -> Result<()> {
        const CALL: &str = "Blas::gemv";
        let checked = self.lend(stream).and_then(|blas| {
            let [m, n] = dimensions(CALL, "a", a)?;
            same(CALL, "x", x.len(), "a's columns", n)?;
            same(CALL, "y", y.len(), "a's rows", m)?;
            if n == 0 {
                let problem = "has no columns; fill `y` instead".to_owned();
                return Err(wrong_operand(CALL, "a", problem));
            }
            Call::begins(y, beta != T::ZERO)?;
            Ok(blas)
        });
        let blas = Call::written(checked, y)?;
        if y.is_empty() {
            return Ok(());
        }
        Call::written(blas.handle.gemv(stream, &blas.gemv, (alpha, a, x), (beta, y)), y)
    }
}

fn dimensions<T: BlasElement>(
    call: &'static str,
    argument: &'static str,
    of: &Tensor<T>,
) -> Result<[usize; 2]> {
    let &[rows, columns] = of.shape() else {
        let problem = format!("has shape {:?}, but a matrix has two dimensions", of.shape());
        return Err(wrong_operand(call, argument, problem));
    };
    Ok([rows, columns])
}

/// Returns the numbers of rows and columns of a matrix. Reports a matrix that is too large for cuBLAS.
pub(super) fn matrix<T: BlasElement>(
    call: &'static str,
    argument: &'static str,
    of: &Tensor<T>,
) -> Result<[usize; 2]> {
    let sizes = dimensions(call, argument, of)?;
    let most = sizes[0].max(sizes[1]);
    if most > i32::MAX as usize {
        let problem = format!(
            "has {most} rows or columns, but cuBLAS takes at most {}; divide the matrix",
            i32::MAX
        );
        return Err(wrong_operand(call, argument, problem));
    }
    Ok(sizes)
}

fn same(
    call: &'static str,
    argument: &'static str,
    len: usize,
    other: &'static str,
    other_len: usize,
) -> Result<()> {
    let problem = if len != other_len {
        format!("has {len} elements, but {other} has {other_len}; they must be equal")
    } else if len > i32::MAX as usize {
        format!("has {len} elements, but cuBLAS takes at most {}; divide the vector", i32::MAX)
    } else {
        return Ok(());
    };
    Err(wrong_operand(call, argument, problem))
}

fn one(call: &'static str, len: usize) -> Result<()> {
    if len == 1 {
        return Ok(());
    }
    let problem = format!("has {len} elements, but the result is one");
    Err(wrong_operand(call, "result", problem))
}

fn axpy<T: BlasElement>(operands: &mut Operands<'_>) -> Result<(), BodyError> {
    let (x, y) = (operands.read::<T>(), operands.write::<T>());
    leave_anything_in(operands.write::<u8>());
    let alpha = operands.value::<T>();
    y.iter_mut().zip(x).for_each(|(y, &x)| *y = y.add_product(alpha, x));
    Ok(())
}

fn dot<T: BlasElement>(operands: &mut Operands<'_>) -> Result<(), BodyError> {
    let (x, y) = (operands.read::<T>(), operands.read::<T>());
    operands.write::<T>()[0] = sum_of_products(x, y);
    leave_anything_in(operands.write::<u8>());
    Ok(())
}

fn norm<T: BlasElement>(operands: &mut Operands<'_>) -> Result<(), BodyError> {
    let x = operands.read::<T>();
    operands.write::<T>()[0] = T::norm(x);
    leave_anything_in(operands.write::<u8>());
    Ok(())
}

fn gemv<T: BlasElement>(operands: &mut Operands<'_>) -> Result<(), BodyError> {
    let (a, x, y) = (operands.read::<T>(), operands.read::<T>(), operands.write::<T>());
    leave_anything_in(operands.write::<u8>());
    let (alpha, beta) = (operands.value::<T>(), operands.value::<T>());
    for (y, row) in y.iter_mut().zip(a.chunks_exact(x.len())) {
        let before = if beta == T::ZERO { T::ZERO } else { y.times(beta) };
        *y = before.add_product(alpha, sum_of_products(row, x));
    }
    Ok(())
}
