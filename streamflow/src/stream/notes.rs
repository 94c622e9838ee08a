//! Notes to the observers of a driver: facts that no call shows, as which operator makes the next calls.

use crate::driver::{Driver, Note};

/// Sends a note.
pub(super) fn tell(driver: &dyn Driver, note: &Note<'_>) {
    // SAFETY: the modules of this crate make notes, and say there what they do.
    unsafe { driver.observer().tell(note) };
}
