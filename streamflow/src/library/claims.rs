//! Returns the uses that the runtime notes for the claims of calls. In debug builds, a test can replace a claim by a false one.
//!
//! A false claim shows whether the tests would find a wrong claim: the runtime orders the call by the false claim, while the
//! driver gets the right one. Release builds contain none of this code.

use crate::driver::AccessMode;

/// A function of a test that decides about a claim. Its arguments are the library's function, the claim's argument and the access
/// mode. It returns the access mode that the runtime notes, or `None` so that the runtime notes no use.
pub type TakeClaim = fn(&'static str, &'static str, AccessMode) -> Option<AccessMode>;

#[cfg(debug_assertions)]
static TAKE: std::sync::OnceLock<TakeClaim> = std::sync::OnceLock::new();

/// Sets the function that decides about each further claim of the process. Only the first call has an effect. Returns whether
/// this build calls the function at all.
///
/// # Safety
/// The runtime orders a call by its false claim, so the call may use memory that other work writes, or that is free. The caller
/// falsifies only claims of calls on the simulator, which finds and refuses such a use.
pub unsafe fn take_claims_by(take: TakeClaim) -> bool {
    #[cfg(debug_assertions)]
    TAKE.get_or_init(|| take);
    let _ = take;
    cfg!(debug_assertions)
}

/// Returns the access mode that the runtime notes for a claim, or `None` if it notes no use.
#[inline(always)]
pub(super) fn taken(
    _function: &'static str,
    _argument: &'static str,
    mode: AccessMode,
) -> Option<AccessMode> {
    #[cfg(debug_assertions)]
    if let Some(take) = TAKE.get() {
        return take(_function, _argument, mode);
    }
    Some(mode)
}
