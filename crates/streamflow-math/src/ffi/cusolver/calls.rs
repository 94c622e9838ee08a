//! Systems of equations, also in batches.

use super::element::sealed::Number;
use super::routine::{of, routines, size};
use super::{TRANSPOSED, UPPER};

routines! {
    /// Queues `P A = L U`, which replaces `A`. `pivots` gets for each row the number of the row that it was swapped
    /// with, and the first of `statuses` is written.
    getrf(n, usize) = "cusolverDnXgetrf" with work:
        write a: T [size(n, n, 1)], write pivots: i64 [Some(n)], write statuses: i32 [Some(1)]
        => |it| (it.table.getrf)(
            it.handle, it.params, n as _, n as _, T::DATA_TYPE, a, n as _, pivots.cast(), T::DATA_TYPE, work.start, work.bytes,
            it.host_work.start.cast(), it.host_work.bytes, statuses.cast(),
        );

    /// Queues the solution of `transpose(A) x = b` for the `count` columns of `b`, which the solutions replace.
    getrs((n, count), (usize, usize)) = "cusolverDnXgetrs":
        read lu: T [size(n, n, 1)], read pivots: i64 [Some(n)], write b: T [size(n, count, 1)], write status: i32 [Some(1)]
        => |it| (it.table.getrs)(
            it.handle, it.params, TRANSPOSED, n as _, count as _, T::DATA_TYPE, lu, n as _, pivots.cast(), T::DATA_TYPE, b, n as _,
            status.cast(),
        );

    /// Queues `A = transpose(U) U`, where `U` replaces the upper triangle of `A`; the first of `statuses` is written.
    potrf(n, usize) = "cusolverDnXpotrf" with work:
        write a: T [size(n, n, 1)], write statuses: i32 [Some(1)]
        => |it| (it.table.potrf)(
            it.handle, it.params, UPPER, n as _, T::DATA_TYPE, a, n as _, T::DATA_TYPE, work.start, work.bytes,
            it.host_work.start.cast(), it.host_work.bytes, statuses.cast(),
        );

    /// Queues the solution of `A x = b` for the `count` columns of `b`, which the solutions replace.
    potrs((n, count), (usize, usize)) = "cusolverDnXpotrs":
        read u: T [size(n, n, 1)], write b: T [size(n, count, 1)], write status: i32 [Some(1)]
        => |it| (it.table.potrs)(
            it.handle, it.params, UPPER, n as _, count as _, T::DATA_TYPE, u, n as _, T::DATA_TYPE, b, n as _, status.cast(),
        );

    /// Queues the factorisation of each matrix of a batch, as [`potrf`](Self::potrf) does for one; each matrix gets a status.
    potrf_batched((n, count), (usize, usize)) = "cusolverDnpotrfBatched":
        write_batch a: T [(size(n, n, 1), count)], write statuses: i32 [Some(count)]
        => |it| of::<T, _>(it.table.spotrf_batched, it.table.dpotrf_batched)(
            it.handle, UPPER, n as _, a, n as _, statuses.cast(), count as _,
        );

    /// Queues the solution of `A x = b` for each matrix of a batch, with one right-hand side each, which the solution replaces.
    potrs_batched((n, count), (usize, usize)) = "cusolverDnpotrsBatched":
        read_batch u: T [(size(n, n, 1), count)], write_batch b: T [(Some(n), count)], write status: i32 [Some(1)]
        => |it| of::<T, _>(it.table.spotrs_batched, it.table.dpotrs_batched)(
            it.handle, UPPER, n as _, 1, u, n as _, b, n as _, status.cast(), count as _,
        );
}
