//! The products that the simulator computes in place of cuBLASLt.

use std::sync::{Mutex, PoisonError};

use crate::ffi::cublaslt::element::MatmulElement;
use crate::ffi::cublaslt::problem::{Problem, Stored};
use crate::ffi::gemm;
use streamflow::Element;
use streamflow::library::{Elements, ElementsMut};
use streamflow::library::{HostBody, Operands};

/// The number of bytes that a call overwrites at the begin of its work area.
pub(super) const WORK: usize = 64;

/// Dense copies of one product's matrices, in the type of the sums. They are kept from call to call, so that a call allocates
/// nothing.
#[derive(Debug, Default)]
struct Scratch<S> {
    a: Vec<S>,
    b: Vec<S>,
    c: Vec<S>,
}

/// Returns the host body of a plan. Its operands are `alpha`, `beta`, `a`, `b`, `c`, the bias if the plan has one, and the work
/// area.
pub(super) fn body<T: MatmulElement>(function: &str, problem: Problem) -> HostBody {
    let scratch = Mutex::new(Scratch::<T::Scale>::default());
    HostBody::new(function, move |operands: &mut Operands<'_>| {
        let scales = (operands.value(), operands.value());
        let (a, b) = (operands.read_elements::<T>(), operands.read_elements::<T>());
        let mut c = operands.write_elements::<T>();
        let bias = if problem.has_bias { operands.read::<T>() } else { &[] };
        leave_anything_in(operands.write::<u8>());
        // If an earlier call has panicked, the lock of the scratch memory is poisoned. The memory can still be used, since each
        // call overwrites it.
        let mut scratch = scratch.lock().unwrap_or_else(PoisonError::into_inner);
        products::<T>(&problem, (&a, &b), &mut c, bias, scales, &mut scratch);
        Ok(())
    })
}

/// Overwrites the begin of a work area, since the library may leave anything there.
pub(super) fn leave_anything_in(work: &mut [u8]) {
    let touched = work.len().min(WORK);
    work[..touched].fill(0xff);
}

/// Computes `c = activation(alpha a b + beta c + bias)` for each product of the batch. The bias is added to each row.
fn products<T: MatmulElement>(
    problem: &Problem,
    (a, b): (&Elements<'_, T>, &Elements<'_, T>),
    c: &mut ElementsMut<'_, T>,
    bias: &[T],
    (alpha, beta): (T::Scale, T::Scale),
    scratch: &mut Scratch<T::Scale>,
) {
    let Problem { m, n, k, .. } = *problem;
    let widen = if problem.is_tf32 { T::widen_tf32 } else { T::widen };
    for product in 0..problem.products() {
        let of = |stored: &Stored| stored.apart.unwrap_or(0) * product;
        load(&problem.a, (a, of(&problem.a)), widen, &mut scratch.a);
        load(&problem.b, (b, of(&problem.b)), widen, &mut scratch.b);
        let first = of(&problem.c);
        if beta == T::ZERO {
            scratch.c.clear();
            scratch.c.resize(m * n, T::ZERO);
        } else {
            load(&problem.c, (c, first), T::widen, &mut scratch.c);
        }
        gemm::multiply([m, n, k], alpha, (&scratch.a, &scratch.b), beta, &mut scratch.c);
        if !bias.is_empty() {
            let rows = scratch.c.chunks_exact_mut(n);
            rows.flat_map(|row| row.iter_mut().zip(bias))
                .for_each(|(sum, bias)| *sum += bias.widen());
        }
        for (row, sums) in scratch.c.chunks_exact(n).enumerate() {
            let values = sums.iter().map(|&sum| T::round(T::activate(sum, problem.activation)));
            c.set_row(first + row * problem.c.leading, values);
        }
    }
}

/// Copies a matrix into dense rows. If the matrix is stored transposed, the copy is not.
fn load<T: Element, S>(
    stored: &Stored,
    (from, first): (&Elements<'_, T>, usize),
    widen: fn(T) -> S,
    to: &mut Vec<S>,
) {
    let Stored { rows, cols, leading, is_transposed, .. } = *stored;
    to.clear();
    if is_transposed {
        let columns = (0..cols).map(|col| (0..rows).map(move |row| row * leading + col));
        to.extend(columns.flatten().map(|at| widen(from.get(first + at))));
    } else {
        let rows = (0..rows).map(|row| from.row(first + row * leading, cols));
        to.extend(rows.flatten().map(widen));
    }
}

#[cfg(all(test, not(loom)))]
mod tests;
