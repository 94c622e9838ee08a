//! The solvers that the simulator runs in place of cuSOLVER, over slices. The matrices are in columns, as in LAPACK; the
//! statuses are those of LAPACK's `info`.

pub(super) mod bodies;
mod cholesky;
mod eigen;
mod lu;
mod qr;
mod scaled;
mod svd;
#[cfg(test)]
mod tests;
