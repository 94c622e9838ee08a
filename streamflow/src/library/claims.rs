//! The uses that the runtime notes for the claims of calls. In debug builds a test can replace a claim by a false one.
//!
//! A false claim shows whether the tests would find a wrong claim: the runtime orders the call by the false claim, while
//! the driver gets the right one. Release builds have none of this code.

use crate::driver::AccessMode;

/// A function of a test that decides about a claim. It gets the library's function, the argument and the access mode, and
/// returns the access mode to note; `None` notes no use.
pub type TakeClaim = fn(&'static str, &'static str, AccessMode) -> Option<AccessMode>;

#[cfg(debug_assertions)]
static TAKE: std::sync::OnceLock<TakeClaim> = std::sync::OnceLock::new();

/// Sets the function that decides about each claim of the process from now on. Only the first call has an effect. Returns
/// whether this build calls the function at all.
///
/// # Safety
/// A call with a falsified claim is ordered by the false claim: it may use memory that other work writes, or that is
/// free. The caller falsifies only claims of calls on the simulator; the simulator finds and refuses such a use.
pub unsafe fn take_claims_by(take: TakeClaim) -> bool {
    #[cfg(debug_assertions)]
    TAKE.get_or_init(|| take);
    let _ = take;
    cfg!(debug_assertions)
}

/// Returns the access mode that the runtime notes for a claim; `None` to note no use.
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
