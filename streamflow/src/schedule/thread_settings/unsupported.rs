//! The system calls on systems on which streamflow can't set cores and priorities: each returns an error.

#![cfg_attr(target_os = "linux", allow(dead_code, reason = "here for its test"))]

use std::convert::Infallible;
use std::io::{self, ErrorKind};

use super::Priority;

/// A type without values: no setting is ever changed here, so none has to be restored.
pub(super) type Cores = Infallible;
pub(super) type Policy = Infallible;

fn unsupported() -> io::Error {
    io::Error::new(ErrorKind::Unsupported, "cores and priorities can be set on Linux only")
}

pub(super) fn usable_cores() -> io::Result<Vec<usize>> {
    Err(unsupported())
}

pub(super) fn set_core(_: usize) -> io::Result<Cores> {
    Err(unsupported())
}

pub(super) fn restore_cores(never: Cores) -> io::Result<()> {
    match never {}
}

pub(super) fn set_priority(_: Priority) -> io::Result<Policy> {
    Err(unsupported())
}

pub(super) fn restore_priority(never: Policy) -> io::Result<()> {
    match never {}
}

pub(super) fn remedy(_: Priority) -> String {
    "leave the priority out".to_owned()
}
