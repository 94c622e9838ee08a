//! Layers (drivers that wrap another driver) that are wrong on purpose. Control tests and failure tests run on them.

#[macro_use]
mod pass;

mod behind;
mod between;
mod blind;
mod bound;
mod breaks;
mod dies_watching;
mod dirty_work;
mod drop_waits;
mod fail_nth;
pub mod faults;
pub(crate) mod gates;
mod hollow;
mod interrupted;
mod late;
pub mod mutate;
mod not_yet;
mod null;
mod poisons_work;
mod replaying;
mod reuses_handles;
mod short_rows;
mod timed;
mod unlaunched;
mod works_alone;

pub use behind::{Behind, Counts};
pub use between::{Between, Moment};
pub use blind::Blind;
pub use bound::Bound;
pub use breaks::{Breaks, Clause};
pub use dies_watching::DiesWatching;
pub use dirty_work::DirtyWork;
pub use drop_waits::DropWaits;
pub use fail_nth::{CallKind, FailNth};
pub use gates::Gates;
pub use hollow::Hollow;
pub use interrupted::Interrupted;
pub use late::Late;
pub use mutate::Mutate;
pub use not_yet::NotYet;
pub use null::Null;
pub use poisons_work::PoisonsWork;
pub use replaying::replaying_without;
pub use reuses_handles::ReusesHandles;
pub use short_rows::ShortRows;
pub use timed::{Kind, Spent, Timed};
pub use unlaunched::Unlaunched;
pub use works_alone::WorksAlone;
