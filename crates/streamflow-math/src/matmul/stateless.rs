//! Products as functions. The node keeps a plan for each stream, shape and alignment.

use super::plan::{CALL, Matmul};
use crate::error::{Result, wrong_operand};
use crate::ffi::cublaslt::element::MatmulElement;
use crate::ffi::cublaslt::problem::ALIGNMENT;
use streamflow::Error;
use streamflow::Tensor;
use streamflow::library::Claim;
use streamflow::{ExecutionContext, Stream};

/// Returns the product of two matrices, `[m, k]` and `[k, n]`, or of two batches of matrices, `[batch, m, k]` and `[batch,
/// k, n]`. Queues the work, and does not block.
///
/// The node keeps a plan for each stream, shape and alignment. The first call makes the plan, and is slow. Each call allocates
/// its result, whereas an [`execute`](super::Plan::execute) of a plan allocates nothing.
///
/// # Errors
/// [`Error::Operand`](crate::Error::Operand) for shapes that don't fit each other; an error if the library is not there; the
/// library's own error; the driver's error.
#[track_caller]
pub fn multiply<T: MatmulElement>(
    cx: &ExecutionContext,
    stream: &Stream<'_>,
    a: &Tensor<T>,
    b: &Tensor<T>,
) -> Result<Tensor<T>> {
    let (batch, [m, n, k]) = match (a.shape(), b.shape()) {
        (&[m, k], &[inner, n]) if k == inner => (None, [m, n, k]),
        (&[batch, m, k], &[other, inner, n]) if k == inner && batch == other => {
            (Some(batch), [m, n, k])
        }
        (a, b) => return Err(no_product(a, b)),
    };
    let mut c = match batch {
        Some(batch) => cx.tensor([batch, m, n], stream)?,
        None => cx.tensor([m, n], stream)?,
    };
    // A tensor with adopted memory may begin at any address.
    let addresses = [a, b, &c].map(|matrix| Claim::read("", matrix).address());
    let lowest = addresses.iter().fold(ALIGNMENT, |bits, address| bits | address);
    let alignment = 1 << lowest.trailing_zeros();
    let make = |_: &_| {
        let single = Matmul::<T>::plan(m, n, k).alignment(alignment);
        let planner = batch.map_or(single, |count| single.batch(count));
        planner.make(false, cx, stream)
    };
    let key = (batch, [m, n, k], alignment);
    cx.cached(stream, key, make)?.multiply(stream, a, b, None, &mut c)?;
    Ok(c)
}

/// Returns the product of two matrices in host memory. `a` is `m` x `k` and `b` is `k` x `n`, in rows, and their shapes are `[m,
/// k]` and `[k, n]`. The matrices are uploaded and multiplied on the device, and the result is downloaded. Blocks until the
/// result is in host memory.
///
/// The work is on the operator's [internal stream](ExecutionContext::internal_stream). The call is for values that are computed
/// once, for example in `start`.
///
/// # Errors
/// The errors of [`multiply`]; [`Error::LengthMismatch`](streamflow::Error::LengthMismatch) for a slice of another length
/// than its shape; [`Error::NoPool`](streamflow::Error::NoPool) for a node without a pool of streams.
pub fn multiply_host_blocking<T: MatmulElement>(
    cx: &ExecutionContext,
    (a, a_shape): (&[T], [usize; 2]),
    (b, b_shape): (&[T], [usize; 2]),
) -> Result<Vec<T>> {
    let stream = cx.internal_stream()?;
    let upload = |host: &[T], shape: [usize; 2]| {
        let mut tensor = cx.tensor(shape, &stream)?;
        stream.upload_blocking(host, &mut tensor)?;
        Ok::<_, Error>(tensor)
    };
    let (a, b) = (upload(a, a_shape)?, upload(b, b_shape)?);
    let c = multiply(cx, &stream, &a, &b)?;
    stream.download_blocking(&c)
}

#[cold]
fn no_product(a: &[usize], b: &[usize]) -> Error {
    let problem = format!(
        "and `b` have shapes {a:?} and {b:?}, which have no product: those of `a` and `b` are [m, k] and [k, n], or \
         [batch, m, k] and [batch, k, n]"
    );
    wrong_operand(CALL, "a", problem)
}
