//! The solvers that the simulator runs in place of cuSOLVER. They work on slices, with matrices in columns and statuses as
//! LAPACK's `info`.

pub(super) mod bodies;
mod cholesky;
mod eigen;
mod lu;
mod qr;
mod scaled;
mod svd;
#[cfg(test)]
mod tests;
