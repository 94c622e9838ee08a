//! Notes to a driver's observer. A note tells a fact that no driver call shows, for example which operator makes the next calls.

use crate::driver::{Driver, Note};

/// Passes a note to the driver's observer.
pub(super) fn observe(driver: &dyn Driver, note: &Note<'_>) {
    // SAFETY: only modules of this crate make notes, and each note tells what its module has really done.
    unsafe { driver.observer().observe(note) };
}
