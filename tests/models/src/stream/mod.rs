//! The library's streams, and their models.

#[path = "../../../../streamflow/src/stream/notes.rs"]
mod notes;
#[path = "../../../../streamflow/src/stream/order.rs"]
mod order;
#[path = "../../../../streamflow/src/stream/ordered.rs"]
mod ordered;
#[path = "../../../../streamflow/src/stream/point.rs"]
mod point;
#[path = "../../../../streamflow/src/stream/progress.rs"]
mod progress;
#[path = "../../../../streamflow/src/stream/record.rs"]
mod record;
#[path = "../../../../streamflow/src/stream/records.rs"]
mod records;
#[path = "../../../../streamflow/src/stream/ring.rs"]
mod ring;
#[path = "../../../../streamflow/src/stream/seen/mod.rs"]
mod seen;
#[path = "../../../../crates/streamflow-driver/src/driver/replay/switch.rs"]
mod switch;
#[path = "../../../../streamflow/src/stream/table.rs"]
mod table;
#[path = "../../../../streamflow/src/stream/timeline.rs"]
mod timeline;

pub(crate) mod models;
pub(crate) mod owned;
pub(crate) mod world;

pub(crate) use ordered::Ordered;
pub(crate) use owned::{Awaited, Awaiting, CudaStream};
pub(crate) use point::{PlatformNumber, Point};
pub(crate) use table::{Attached, StreamTable};
pub(crate) use timeline::Timeline;
pub(crate) use world::{On, Refused, World};

/// Stands for the library's green contexts. No model has a green context.
pub(crate) struct GreenContexts;
