//! The host bodies of the libraries' calls. Each body takes the claims in the order in which the functions in `ffi::cusolver`
//! make them.

use super::eigen::eigen;
use super::qr::qr;
use super::svd::svd;
use super::{cholesky, lu};
use crate::ffi::cusolver::element::{Factor, Real};
use streamflow::library::HostBody;

/// Returns the right-hand sides in `b`, each of `n` elements.
fn sides<T>(b: &mut [T], n: usize) -> impl Iterator<Item = &mut [T]> {
    b.chunks_exact_mut(n.max(1))
}

pub(in crate::solve) fn getrf<T: Factor>(n: usize) -> HostBody {
    HostBody::new("cusolverDnXgetrf", move |it| {
        let (_work, a) = (it.write::<u8>(), it.write::<T>());
        let (pivots, statuses) = (it.write::<i64>(), it.write::<i32>());
        statuses[0] = lu::factor(n, a, pivots);
        Ok(())
    })
}

pub(in crate::solve) fn getrs<T: Factor>(n: usize) -> HostBody {
    HostBody::new("cusolverDnXgetrs", move |it| {
        let (lu, pivots) = (it.read::<T>(), it.read::<i64>());
        let (b, status) = (it.write::<T>(), it.write::<i32>());
        sides(b, n).for_each(|b| lu::solve_transposed(n, lu, pivots, b));
        status[0] = 0;
        Ok(())
    })
}

pub(in crate::solve) fn getrf_batched<T: Factor>(n: usize) -> HostBody {
    HostBody::new("cublasgetrfBatched", move |it| {
        let (_pointers, a) = (it.read::<u64>(), it.write::<T>());
        let (pivots, statuses, _work) = (it.write::<i32>(), it.write::<i32>(), it.write::<u8>());
        let mut rows = vec![0; n];
        let batch = a.chunks_exact_mut(n * n).zip(pivots.chunks_exact_mut(n));
        for ((a, pivots), status) in batch.zip(statuses) {
            *status = lu::factor(n, a, &mut rows);
            pivots.iter_mut().zip(&rows).for_each(|(pivot, &row)| *pivot = row as i32);
        }
        Ok(())
    })
}

pub(in crate::solve) fn getrs_batched<T: Factor>(n: usize) -> HostBody {
    HostBody::new("cublasgetrsBatched", move |it| {
        let (_pointers, lu) = (it.read::<u64>(), it.read::<T>());
        let (pivots, _pointers) = (it.read::<i32>(), it.read::<u64>());
        let (b, _work) = (it.write::<T>(), it.write::<u8>());
        let matrices = lu.chunks_exact(n * n).zip(pivots.chunks_exact(n));
        for ((lu, pivots), b) in matrices.zip(sides(b, n)) {
            let rows: Vec<i64> = pivots.iter().map(|&pivot| pivot.into()).collect();
            lu::solve_transposed(n, lu, &rows, b);
        }
        Ok(())
    })
}

pub(in crate::solve) fn potrf<T: Real>(n: usize) -> HostBody {
    HostBody::new("cusolverDnXpotrf", move |it| {
        let (_work, a, statuses) = (it.write::<u8>(), it.write::<T>(), it.write::<i32>());
        statuses[0] = cholesky::factor(n, a);
        Ok(())
    })
}

pub(in crate::solve) fn potrs<T: Real>(n: usize) -> HostBody {
    HostBody::new("cusolverDnXpotrs", move |it| {
        let (u, b, status) = (it.read::<T>(), it.write::<T>(), it.write::<i32>());
        sides(b, n).for_each(|b| cholesky::solve(n, u, b));
        status[0] = 0;
        Ok(())
    })
}

pub(in crate::solve) fn potrf_batched<T: Real>(n: usize) -> HostBody {
    HostBody::new("cusolverDnpotrfBatched", move |it| {
        let (_pointers, a, statuses) = (it.read::<u64>(), it.write::<T>(), it.write::<i32>());
        for (a, status) in a.chunks_exact_mut(n * n).zip(statuses) {
            *status = cholesky::factor(n, a);
            // The elements above the diagonal are overwritten: cuSOLVER works there, so no caller may use them afterwards.
            (0..n).for_each(|row| (row + 1..n).for_each(|column| a[row * n + column] = a[row]));
        }
        Ok(())
    })
}

pub(in crate::solve) fn potrs_batched<T: Real>(n: usize) -> HostBody {
    HostBody::new("cusolverDnpotrsBatched", move |it| {
        let (_pointers, u) = (it.read::<u64>(), it.read::<T>());
        let (_pointers, b, status) = (it.read::<u64>(), it.write::<T>(), it.write::<i32>());
        let matrices = u.chunks_exact(n * n);
        matrices.zip(sides(b, n)).for_each(|(u, b)| cholesky::solve(n, u, b));
        status[0] = 0;
        Ok(())
    })
}

/// Makes the body of `geqrf`. It stores `Q` in `tau`, for [`orgqr`]: on the simulator, `tau` has room for `Q`.
pub(in crate::solve) fn geqrf<T: Real>(rows: usize, columns: usize) -> HostBody {
    HostBody::new("cusolverDnXgeqrf", move |it| {
        let (_work, a) = (it.write::<u8>(), it.write::<T>());
        let (tau, status) = (it.write::<T>(), it.write::<i32>());
        let mut r = vec![T::ZERO; columns * columns];
        qr((rows, columns), a, &mut tau[..rows * columns], &mut r);
        for (column, r) in r.chunks_exact(columns).enumerate() {
            a[column * rows..column * rows + columns].copy_from_slice(r);
        }
        status[0] = 0;
        Ok(())
    })
}

pub(in crate::solve) fn orgqr<T: Real>() -> HostBody {
    HostBody::new("cusolverDnorgqr", move |it| {
        let (_work, a) = (it.write::<u8>(), it.write::<T>());
        let (tau, status) = (it.read::<T>(), it.write::<i32>());
        a.copy_from_slice(&tau[..a.len()]);
        status[0] = 0;
        Ok(())
    })
}

pub(in crate::solve) fn syevd<T: Real>(n: usize) -> HostBody {
    HostBody::new("cusolverDnXsyevd", move |it| {
        let (_work, a) = (it.write::<u8>(), it.write::<T>());
        let (values, status) = (it.write::<T>(), it.write::<i32>());
        let matrix = a.to_vec();
        status[0] = eigen(n, &matrix, values, a);
        Ok(())
    })
}

pub(in crate::solve) fn gesvd<T: Real>(rows: usize, columns: usize) -> HostBody {
    HostBody::new("cusolverDnXgesvd", move |it| {
        let (_work, a, s) = (it.write::<u8>(), it.write::<T>(), it.write::<T>());
        let (u, vt, status) = (it.write::<T>(), it.write::<T>(), it.write::<i32>());
        status[0] = svd((rows, columns), a, u, s, vt);
        Ok(())
    })
}

pub(in crate::solve) fn syevj_batched<T: Real>(n: usize) -> HostBody {
    HostBody::new("cusolverDnsyevjBatched", move |it| {
        let (_work, a) = (it.write::<u8>(), it.write::<T>());
        let (values, statuses) = (it.write::<T>(), it.write::<i32>());
        let batch = a.chunks_exact_mut(n * n).zip(values.chunks_exact_mut(n));
        for ((a, values), status) in batch.zip(statuses) {
            let matrix = a.to_vec();
            *status = eigen(n, &matrix, values, a);
        }
        Ok(())
    })
}

/// Makes the body of `gesvdjBatched`. It computes only as many vectors as there are singular values, since the plan reads no
/// others.
pub(in crate::solve) fn gesvdj_batched<T: Real>(rows: usize, columns: usize) -> HostBody {
    HostBody::new("cusolverDngesvdjBatched", move |it| {
        let (_work, a, s) = (it.write::<u8>(), it.write::<T>(), it.write::<T>());
        let (u, v, statuses) = (it.write::<T>(), it.write::<T>(), it.write::<i32>());
        let k = rows.min(columns);
        let mut vt = vec![T::ZERO; k * columns];
        u.fill(T::ZERO);
        v.fill(T::ZERO);
        let batch = a.chunks_exact(rows * columns).zip(s.chunks_exact_mut(k));
        let vectors = u.chunks_exact_mut(rows * rows).zip(v.chunks_exact_mut(columns * columns));
        for (((a, s), (u, v)), status) in batch.zip(vectors).zip(statuses) {
            *status = svd((rows, columns), a, &mut u[..rows * k], s, &mut vt);
            for (at, &value) in vt.iter().enumerate() {
                v[at % k * columns + at / k] = value;
            }
        }
        Ok(())
    })
}

/// Makes the body that factors a sparse matrix, as a dense copy. The rows of the sparse matrix are the columns of the copy.
#[cfg(feature = "sparse")]
pub(in crate::solve) fn direct_factor<T: Factor>(n: usize) -> HostBody {
    HostBody::new("cudssExecute", move |it| {
        let (offsets, columns, values) = (it.read::<i32>(), it.read::<i32>(), it.read::<T>());
        let (dense, pivots, status) = (it.write::<T>(), it.write::<i64>(), it.write::<i32>());
        dense.fill(T::ZERO);
        for (row, ends) in dense.chunks_exact_mut(n).zip(offsets.windows(2)) {
            let stored = ends[0] as usize..ends[1] as usize;
            for (&column, &value) in columns[stored.clone()].iter().zip(&values[stored]) {
                row[column as usize] = row[column as usize] + value;
            }
        }
        status[0] = lu::factor(n, dense, pivots);
        Ok(())
    })
}

#[cfg(feature = "sparse")]
pub(in crate::solve) fn direct_solve<T: Factor>(n: usize) -> HostBody {
    HostBody::new("cudssExecute", move |it| {
        let (_offsets, _columns, _values) = (it.read::<i32>(), it.read::<i32>(), it.read::<T>());
        let (factors, pivots) = (it.write::<T>(), it.read::<i64>());
        let (b, x) = (it.read::<T>(), it.write::<T>());
        x.copy_from_slice(b);
        sides(x, n).for_each(|x| lu::solve_transposed(n, factors, pivots, x));
        Ok(())
    })
}
