//! cuBLAS.

use crate::{I, P, functions};

functions! {
    makes cublasCreate_v2(P);
    does cublasDestroy_v2(P);
    does cublasSetStream_v2(P, P);
    does cublasSetWorkspace_v2(P, P, usize);
    does cublasSetPointerMode_v2(P, I);
    does cublasSaxpy_v2(P, I, P, P, I, P, I);
    does cublasDaxpy_v2(P, I, P, P, I, P, I);
    does cublasSdot_v2(P, I, P, I, P, I, P);
    does cublasDdot_v2(P, I, P, I, P, I, P);
    does cublasSnrm2_v2(P, I, P, I, P);
    does cublasDnrm2_v2(P, I, P, I, P);
    does cublasSgemv_v2(P, I, I, I, P, P, I, P, I, P, P, I);
    does cublasDgemv_v2(P, I, I, I, P, P, I, P, I, P, P, I);
    does cublasStrsm_v2(P, I, I, I, I, I, I, P, P, I, P, I);
    does cublasDtrsm_v2(P, I, I, I, I, I, I, P, P, I, P, I);
    does cublasSsyrk_v2(P, I, I, I, I, P, P, I, P, P, I);
    does cublasDsyrk_v2(P, I, I, I, I, P, P, I, P, P, I);
    does cublasSgetrfBatched(P, I, P, I, P, P, I);
    does cublasDgetrfBatched(P, I, P, I, P, P, I);
    does cublasCgetrfBatched(P, I, P, I, P, P, I);
    does cublasZgetrfBatched(P, I, P, I, P, P, I);
    does cublasSgetrsBatched(P, I, I, I, P, I, P, P, I, P, I);
    does cublasDgetrsBatched(P, I, I, I, P, I, P, P, I, P, I);
    does cublasCgetrsBatched(P, I, I, I, P, I, P, P, I, P, I);
    does cublasZgetrsBatched(P, I, I, I, P, I, P, P, I, P, I);
}
