//! The library's streams without their driver, and their models.

#[path = "../../../../streamflow/src/stream/clock.rs"]
mod clock;
#[path = "../../../../streamflow/src/stream/ordered.rs"]
mod ordered;
#[path = "../../../../streamflow/src/stream/point.rs"]
mod point;
#[path = "../../../../streamflow/src/stream/records.rs"]
mod records;
#[path = "../../../../streamflow/src/stream/ring.rs"]
mod ring;

pub(crate) mod models;
mod world;

pub(crate) use ordered::Ordered;
pub(crate) use point::{PlatformNumber, Point};
pub(crate) use world::{On, Refused, World};
