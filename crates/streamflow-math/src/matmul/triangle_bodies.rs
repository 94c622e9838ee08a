//! The host bodies of cuBLAS's functions of triangles, for the simulator.

use super::host::leave_anything_in;
use super::numbers::{BlasElement, sum_of_products};
use crate::error::BodyError;
use streamflow::library::Operands;

/// Solves a triangular system, one row after another: from the first row on for a lower triangle, and from the last row back for
/// an upper one.
pub(super) fn trsm<T: BlasElement>(operands: &mut Operands<'_>) -> Result<(), BodyError> {
    let (a, b) = (operands.read::<T>(), operands.write::<T>());
    leave_anything_in(operands.write::<u8>());
    let alpha = operands.value::<T>();
    let (is_lower, n) = (operands.value::<u64>() == 1, operands.value::<u64>() as usize);
    let columns = b.len() / n;
    b.iter_mut().for_each(|b| *b = b.times(alpha));
    for step in 0..n {
        let row = if is_lower { step } else { n - 1 - step };
        let solved = if is_lower { 0..row } else { row + 1..n };
        for other in solved {
            let factor = T::ZERO.minus(a[row * n + other]);
            for column in 0..columns {
                let x = b[other * columns + column];
                let left = &mut b[row * columns + column];
                *left = left.add_product(factor, x);
            }
        }
        let diagonal = a[row * n + row];
        b[row * columns..][..columns].iter_mut().for_each(|b| *b = b.over(diagonal));
    }
    Ok(())
}

pub(super) fn syrk<T: BlasElement>(operands: &mut Operands<'_>) -> Result<(), BodyError> {
    let (a, c) = (operands.read::<T>(), operands.write::<T>());
    leave_anything_in(operands.write::<u8>());
    let (alpha, beta) = (operands.value::<T>(), operands.value::<T>());
    let (is_lower, n) = (operands.value::<u64>() == 1, operands.value::<u64>() as usize);
    let k = a.len() / n;
    let row_of = |row: usize| &a[row * k..][..k];
    for row in 0..n {
        let columns = if is_lower { 0..row + 1 } else { row..n };
        for column in columns {
            let c = &mut c[row * n + column];
            let before = if beta == T::ZERO { T::ZERO } else { c.times(beta) };
            *c = before.add_product(alpha, sum_of_products(row_of(row), row_of(column)));
        }
    }
    Ok(())
}
