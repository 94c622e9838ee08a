//! Sparse matrices by cuSPARSE: products of a matrix in compressed rows with vectors and with dense matrices.
//!
//! | function | plan | computes |
//! |---|---|---|
//! | [`spmv`] | [`SpMv`] | `A x` |
//! | [`spmm`] | [`SpMm`] | `A B`, with dense matrices in rows |
//!
//! The matrix is a [`Csr`], whose offsets and columns the host has checked. The elements are `f32`, `f64` and the complex numbers
//! of these, and sums have the precision of the elements. The simulator computes the products by streamflow's own code.

mod csr;
mod host;
mod products;
mod stateless;

pub use super::ffi::cusparse::element::SparseElement;
pub use csr::Csr;
pub use products::{ProductPlanner, SpMm, SpMv};
pub use stateless::{spmm, spmm_host_blocking, spmv, spmv_host_blocking};
