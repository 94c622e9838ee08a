//! QR, eigenvalues and singular values.

use super::element::sealed::Number;
use super::routine::{of, routines, size};
use super::{ECONOMY, UPPER, VECTORS};

routines! {
    /// Queues QR of a matrix of `rows` by `columns`, which is overwritten: `R` is in its upper triangle, and below the
    /// diagonal, together with `tau`, are the reflections from which [`orgqr`](Self::orgqr) makes `Q`.
    geqrf((rows, columns), (usize, usize)) = "cusolverDnXgeqrf" with work:
        write a: T [size(rows, columns, 1)], write tau: T [Some(rows.min(columns))], write status: i32 [Some(1)]
        => |it| (it.table.geqrf)(
            it.handle, it.params, rows as _, columns as _, T::DATA_TYPE, a, rows as _, T::DATA_TYPE, tau, T::DATA_TYPE,
            work.start, work.bytes, it.host_work.start.cast(), it.host_work.bytes, status.cast(),
        );

    /// Queues `Q`, `rows` by `columns`, which overwrites the result of [`geqrf`](Self::geqrf).
    orgqr((rows, columns), (usize, usize)) = "cusolverDnorgqr" with work:
        write a: T [size(rows, columns, 1)], read tau: T [Some(columns)], write status: i32 [Some(1)]
        => |it| of::<T, _>(it.table.sorgqr, it.table.dorgqr)(
            it.handle, rows as _, columns as _, columns as _, a, rows as _, tau, work.start, work.elements::<T>(), status.cast(),
        );

    /// Queues the eigenvalues of a symmetric matrix, of which the upper triangle is read, and its eigenvectors in the
    /// columns of `a`. The routine reads results of its iteration on the host.
    syevd(n, usize) = "cusolverDnXsyevd" with work:
        write a: T [size(n, n, 1)], write values: T [Some(n)], write status: i32 [Some(1)]
        => |it| (it.table.syevd)(
            it.handle, it.params, VECTORS, UPPER, n as _, T::DATA_TYPE, a, n as _, T::DATA_TYPE, values, T::DATA_TYPE,
            work.start, work.bytes, it.host_work.start.cast(), it.host_work.bytes, status.cast(),
        );

    /// Queues the economy SVD of a matrix with `rows >= columns`, and overwrites the matrix: `u` is `rows` by
    /// `columns`, and `vt` `columns` by `columns`. The routine reads results of its iteration on the host.
    gesvd((rows, columns), (usize, usize)) = "cusolverDnXgesvd" with work:
        write a: T [size(rows, columns, 1)], write s: T [Some(columns)], write u: T [size(rows, columns, 1)],
        write vt: T [size(columns, columns, 1)], write status: i32 [Some(1)]
        => |it| (it.table.gesvd)(
            it.handle, it.params, ECONOMY, ECONOMY, rows as _, columns as _, T::DATA_TYPE, a, rows as _, T::DATA_TYPE, s,
            T::DATA_TYPE, u, rows as _, T::DATA_TYPE, vt, columns as _, T::DATA_TYPE, work.start, work.bytes,
            it.host_work.start.cast(), it.host_work.bytes, status.cast(),
        );
}
