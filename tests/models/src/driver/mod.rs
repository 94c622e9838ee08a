//! The library's trait `Driver`, with a driver in place of CUDA and the simulator that knows the real order of work. Also
//! the parts directly above the trait (signals, owners of handles and the race checker), with their models.

#[path = "../../../../crates/streamflow-driver/src/driver/current.rs"]
pub(crate) mod current;
#[path = "../../../../crates/streamflow-driver/src/driver/error.rs"]
mod error;
#[allow(dead_code, reason = "no model finds a stream by its handle")]
#[path = "../../../../crates/streamflow-driver/src/driver/foreign_stream.rs"]
mod foreign_stream;
#[path = "../../../../crates/streamflow-driver/src/driver/graph.rs"]
mod graph;
#[path = "../../../../crates/streamflow-driver/src/driver/green.rs"]
mod green;
#[path = "../../../../crates/streamflow-driver/src/driver/handle.rs"]
mod handle;
#[path = "../../../../crates/streamflow-driver/src/driver/kernel.rs"]
mod kernel;
#[path = "../../../../crates/streamflow-driver/src/driver/layer.rs"]
mod layer;
#[path = "../../../../crates/streamflow-driver/src/driver/libraries.rs"]
mod libraries;
#[path = "../../../../crates/streamflow-driver/src/driver/library.rs"]
mod library;
#[path = "../../../../crates/streamflow-driver/src/driver/listeners.rs"]
mod listeners;
#[path = "../../../../crates/streamflow-driver/src/driver/memory_source.rs"]
mod memory_source;
#[path = "../../../../crates/streamflow-driver/src/driver/note.rs"]
mod note;
#[path = "../../../../crates/streamflow-driver/src/driver/observer.rs"]
mod observer;
#[path = "../../../../crates/streamflow-driver/src/driver/owned.rs"]
mod owned;
#[allow(dead_code, reason = "no model divides a device or has a platform")]
#[path = "../../../../crates/streamflow-driver/src/driver/promise.rs"]
pub(crate) mod promise;
#[path = "../../../../crates/streamflow-driver/src/driver/race/mod.rs"]
mod race;
#[path = "../../../../crates/streamflow-driver/src/driver/raise.rs"]
mod raise;
#[path = "../../../../crates/streamflow-driver/src/driver/report/mod.rs"]
mod report;
#[path = "../../../../crates/streamflow-driver/src/driver/rows/mod.rs"]
mod rows;
#[path = "../../../../crates/streamflow-driver/src/driver/signal.rs"]
mod signal;
#[allow(dead_code, reason = "no driver of the models replays")]
#[path = "../../../../crates/streamflow-driver/src/driver/passes/tick.rs"]
mod tick;

pub(crate) mod checker;
pub(crate) mod device;
pub(crate) mod journal;
pub(crate) mod models;

/// Stands for the library's module of replay, because layers name its items. No driver of the models replays.
pub(crate) mod passes {
    pub(crate) use super::tick::ReplayedTick;

    pub(crate) trait Replays: std::fmt::Debug {
        fn tick(&self) -> std::sync::Arc<ReplayedTick>;
    }
}

/// Returns `false`: no driver of the models executes kernels' Rust bodies.
pub(crate) fn is_inside_a_body() -> bool {
    false
}

use std::fmt;

pub(crate) use self::passes as replay;
pub(crate) use error::{DriverError, Sticky, first_error, report_in_drop, report_unless_refused};
pub(crate) use green::{Coscheduling, GreenContext, SmSizes};
pub(crate) use handle::{
    BorrowedEvent, BorrowedStream, DeviceId, MemoryRange, RawEvent, RawFunction, RawGraph,
    RawModule, RawStream,
};
pub(crate) use kernel::{
    Access, AccessMode, Code, HostArgs, HostFunction, HostKernel, Image, KernelSource, Launch,
    LoadedKernel, MAX_PARAMS, Param, Plain, RowsAt, Target,
};
pub(crate) use layer::Layer;
pub(crate) use libraries::Libraries;
pub(crate) use library::{LibraryCall, LibraryCalls, LibraryError};
pub(crate) use listeners::Listeners;
pub(crate) use memory_source::MemorySource;
pub(crate) use note::{Direction, Note, SourceLocation};
pub(crate) use observer::Observer;
pub(crate) use owned::{Event, OwnedEvent, OwnedEvents, OwnedPinned, OwnedStream};
pub(crate) use report::{RaceMark, RaceReports};
pub(crate) use rows::{CopyRows, RowLevel, Rows};
pub(crate) use signal::Signal;

// Includes the trait `Driver` and the types that the library declares in the same file.
include!(concat!(env!("OUT_DIR"), "/seam.rs"));
