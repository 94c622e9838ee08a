//! cuFFT.

use crate::{I, L, P, functions};

functions! {
    makes cufftCreate(I);
    does cufftDestroy(I);
    does cufftSetAutoAllocation(I, I);
    does cufftSetStream(I, P);
    sizes cufftMakePlanMany64(I, I, P, P, L, L, P, L, L, I, L; usize);
    does cufftSetWorkArea(I, P);
    does cufftExecC2C(I, P, P, I);
    does cufftExecR2C(I, P, P);
    does cufftExecC2R(I, P, P);
    does cufftExecZ2Z(I, P, P, I);
    does cufftExecD2Z(I, P, P);
    does cufftExecZ2D(I, P, P);
}
