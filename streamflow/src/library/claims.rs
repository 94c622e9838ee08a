//! The claims of calls, as the runtime gets them. Only in debug builds, a test can falsify a claim.
//!
//! A false claim shows whether tests find it: the runtime orders the call by the false claim, and the driver gets the
//! right one. Release builds have none of this code.

use crate::driver::AccessMode;

/// How the runtime takes a claim: the function and its argument, and how the call uses that. `None` leaves the claim out.
pub type TakeClaim = fn(&'static str, &'static str, AccessMode) -> Option<AccessMode>;

#[cfg(debug_assertions)]
static TAKE: std::sync::OnceLock<TakeClaim> = std::sync::OnceLock::new();

/// Has this function decide about each claim of the process from now on. Only the first function passed is used.
/// Returns whether this build asks the function.
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

/// How the runtime takes a claim.
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
