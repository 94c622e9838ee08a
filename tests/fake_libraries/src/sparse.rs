//! cuSPARSE.

use crate::{I, L, P, functions};

functions! {
    makes cusparseCreate(P);
    does cusparseDestroy(P);
    does cusparseSetStream(P, P);
    makes cusparseCreateCsr(P, L, L, L, P, P, P, I, I, I, I);
    does cusparseDestroySpMat(P);
    makes cusparseCreateDnVec(P, L, P, I);
    does cusparseDestroyDnVec(P);
    does cusparseDnVecSetValues(P, P);
    makes cusparseCreateDnMat(P, L, L, L, P, I, I);
    does cusparseDestroyDnMat(P);
    does cusparseDnMatSetValues(P, P);
    sizes cusparseSpMV_bufferSize(P, I, P, P, P, P, P, I, I; usize);
    does cusparseSpMV_preprocess(P, I, P, P, P, P, P, I, I, P);
    does cusparseSpMV(P, I, P, P, P, P, P, I, I, P);
    sizes cusparseSpMM_bufferSize(P, I, I, P, P, P, P, P, I, I; usize);
    does cusparseSpMM_preprocess(P, I, I, P, P, P, P, P, I, I, P);
    does cusparseSpMM(P, I, I, P, P, P, P, P, I, I, P);
}
