//! Stands for the library's module that marks memory as not written. Models have no hooks, so nothing is ever marked.

use crate::driver::MemoryRange;
use crate::error::{Error, Result};

#[derive(Debug)]
pub(super) struct FailedWrite(());

impl FailedWrite {
    pub(super) fn new(_: MemoryRange, _: &Error) -> Option<Self> {
        None
    }

    pub(super) fn extend_to(&mut self, _: MemoryRange) {}

    pub(super) fn begin_overwrite(&mut self, _: MemoryRange) {}

    pub(super) fn is_overwritten(&self) -> bool {
        true
    }

    pub(super) fn has_ended(&self) -> bool {
        true
    }

    pub(super) fn is_within(&self, _: MemoryRange) -> bool {
        true
    }

    pub(super) fn check(&self, _: MemoryRange) -> Result<()> {
        Ok(())
    }
}
