//! cuDSS 1.0.

use crate::{I, L, P, functions};

functions! {
    makes cudssCreate(P);
    does cudssDestroy(P);
    does cudssSetStream(P, P);
    sizes cudssGetProperty(I; I);
    makes cudssConfigCreate(P);
    does cudssConfigDestroy(P);
    does cudssDataDestroy(P, P);
    does cudssDataGet(P, P, I, P, usize, P);
    makes cudssMatrixCreateCsr(P, L, L, L, P, P, P, P, I, I, I, I, I, I);
    makes cudssMatrixCreateDn(P, L, L, L, P, I, I);
    does cudssMatrixSetValues(P, P);
    does cudssMatrixDestroy(P);
    does cudssExecute(P, I, P, P, P, P, P);
}

/// The handle of the library comes first, and the place of the object after it.
///
/// # Safety
/// `object` is a place for the object.
#[unsafe(no_mangle)]
unsafe extern "C" fn cudssDataCreate(_: P, made: *mut P) -> I {
    let status = crate::begin("cudssDataCreate");
    if status == 0 {
        // SAFETY: the caller's.
        unsafe { made.write(crate::HANDLE as P) };
    }
    status
}
