//! cuSOLVER.

use std::ffi::c_schar;

use crate::{I, L, P, functions};

functions! {
    makes cusolverDnCreate(P);
    does cusolverDnDestroy(P);
    does cusolverDnSetStream(P, P);
    makes cusolverDnCreateParams(P);
    does cusolverDnDestroyParams(P);
    sizes cusolverDnXgetrf_bufferSize(P, P, L, L, I, P, L, I; usize, usize);
    does cusolverDnXgetrf(P, P, L, L, I, P, L, P, I, P, usize, P, usize, P);
    does cusolverDnXgetrs(P, P, I, L, L, I, P, L, P, I, P, L, P);
    sizes cusolverDnXpotrf_bufferSize(P, P, I, L, I, P, L, I; usize, usize);
    does cusolverDnXpotrf(P, P, I, L, I, P, L, I, P, usize, P, usize, P);
    does cusolverDnXpotrs(P, P, I, L, L, I, P, L, I, P, L, P);
    does cusolverDnSpotrfBatched(P, I, I, P, I, P, I);
    does cusolverDnDpotrfBatched(P, I, I, P, I, P, I);
    does cusolverDnSpotrsBatched(P, I, I, I, P, I, P, I, P, I);
    does cusolverDnDpotrsBatched(P, I, I, I, P, I, P, I, P, I);
    sizes cusolverDnXgeqrf_bufferSize(P, P, L, L, I, P, L, I, P, I; usize, usize);
    does cusolverDnXgeqrf(P, P, L, L, I, P, L, I, P, I, P, usize, P, usize, P);
    sizes cusolverDnSorgqr_bufferSize(P, I, I, I, P, I, P; I);
    sizes cusolverDnDorgqr_bufferSize(P, I, I, I, P, I, P; I);
    does cusolverDnSorgqr(P, I, I, I, P, I, P, P, I, P);
    does cusolverDnDorgqr(P, I, I, I, P, I, P, P, I, P);
    sizes cusolverDnXsyevd_bufferSize(P, P, I, I, L, I, P, L, I, P, I; usize, usize);
    does cusolverDnXsyevd(P, P, I, I, L, I, P, L, I, P, I, P, usize, P, usize, P);
    sizes cusolverDnXgesvd_bufferSize(
        P, P, c_schar, c_schar, L, L, I, P, L, I, P, I, P, L, I, P, L, I; usize, usize
    );
    does cusolverDnXgesvd(
        P, P, c_schar, c_schar, L, L, I, P, L, I, P, I, P, L, I, P, L, I, P, usize, P, usize, P
    );
    makes cusolverDnCreateSyevjInfo(P);
    does cusolverDnDestroySyevjInfo(P);
    does cusolverDnXsyevjSetTolerance(P, f64);
    sizes cusolverDnSsyevjBatched_bufferSize(P, I, I, I, P, I, P; I, P, I);
    sizes cusolverDnDsyevjBatched_bufferSize(P, I, I, I, P, I, P; I, P, I);
    does cusolverDnSsyevjBatched(P, I, I, I, P, I, P, P, I, P, P, I);
    does cusolverDnDsyevjBatched(P, I, I, I, P, I, P, P, I, P, P, I);
    makes cusolverDnCreateGesvdjInfo(P);
    does cusolverDnDestroyGesvdjInfo(P);
    does cusolverDnXgesvdjSetTolerance(P, f64);
    sizes cusolverDnSgesvdjBatched_bufferSize(P, I, I, I, P, I, P, P, I, P, I; I, P, I);
    sizes cusolverDnDgesvdjBatched_bufferSize(P, I, I, I, P, I, P, P, I, P, I; I, P, I);
    does cusolverDnSgesvdjBatched(P, I, I, I, P, I, P, P, I, P, I, P, I, P, P, I);
    does cusolverDnDgesvdjBatched(P, I, I, I, P, I, P, P, I, P, I, P, I, P, P, I);
}
