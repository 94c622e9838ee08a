//! Eigenvalues and singular values of batches, by Jacobi's method.
//!
//! These routines of cuSOLVER for batches are in every CUDA 12 and 13, and their results are as good as those for one
//! matrix. The alternatives are not: `XsyevBatched` came with CUDA 12.6.2, needs hundreds of KB of work area for each small
//! matrix, and refuses 65,536 matrices; `gesvdaStridedBatched` approximates.

use super::element::sealed::Number;
use super::routine::{of, routines, size};
use super::{UPPER, VECTORS};

routines! {
    /// Queues the eigenvalues and eigenvectors of each matrix of a batch, as [`syevd`](Self::syevd) does for one; each
    /// matrix gets a status.
    syevj_batched((n, count), (usize, usize)) = "cusolverDnsyevjBatched" with work:
        write a: T [size(n, n, count)], write values: T [size(n, count, 1)], write statuses: i32 [Some(count)]
        => |it| of::<T, _>(it.table.ssyevj_batched, it.table.dsyevj_batched)(
            it.handle, VECTORS, UPPER, n as _, a, n as _, values, work.start, work.elements::<T>(), statuses.cast(),
            it.jacobi.eigen, count as _,
        );

    /// Queues the SVD of each matrix of a batch, `rows` by `columns`, both at most 32. The matrices are overwritten. `u`
    /// gets matrices of `rows` by `rows`, and `v` matrices of `columns` by `columns` that are not transposed.
    gesvdj_batched((rows, columns, count), (usize, usize, usize)) = "cusolverDngesvdjBatched" with work:
        write a: T [size(rows, columns, count)], write s: T [size(rows.min(columns), count, 1)],
        write u: T [size(rows, rows, count)], write v: T [size(columns, columns, count)], write statuses: i32 [Some(count)]
        => |it| of::<T, _>(it.table.sgesvdj_batched, it.table.dgesvdj_batched)(
            it.handle, VECTORS, rows as _, columns as _, a, rows as _, s, u, rows as _, v, columns as _, work.start,
            work.elements::<T>(), statuses.cast(), it.jacobi.svd, count as _,
        );
}
