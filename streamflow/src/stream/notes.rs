//! Notes to the observer of a driver: facts that no driver call shows, for example which operator makes the next calls.

use crate::driver::{Driver, Note};

/// Sends a note.
pub(super) fn observe(driver: &dyn Driver, note: &Note<'_>) {
    // SAFETY: only the modules of this crate make notes, and they note what they do.
    unsafe { driver.observer().observe(note) };
}
