//! Decides whether the host waits, from the fact that it makes no driver calls.

use std::fmt;

use super::held::Point;

/// The latest driver call.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Last {
    /// How many calls have begun.
    number: u64,
    name: &'static str,
    /// The point for which the call may wait, instead of the whole device.
    on: Option<Point>,
    is_within: bool,
}

impl Last {
    /// Notes the beginning of a call. Returns the call's number.
    pub(super) fn begin(&mut self, name: &'static str, on: Option<Point>) -> u64 {
        *self = Self { number: self.number + 1, name, on, is_within: true };
        self.number
    }

    /// Notes that a call has returned.
    pub(super) fn end(&mut self, number: u64) {
        self.is_within &= self.number != number;
    }
}

/// Describes the wait of a host that has made no call since this one.
impl fmt::Display for Last {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.name;
        match self.is_within {
            true => write!(f, "`{name}` has waited for the device"),
            false => write!(f, "the host has waited outside of the driver, after `{name}`"),
        }
    }
}

/// Which gates to open for a host that waits.
#[derive(Debug)]
pub(super) enum Opens {
    For(Point),
    All,
}

/// Counts how many looks in a row have found a closed gate and no new call.
#[derive(Debug, Default)]
pub(super) struct Quiet {
    seen: u64,
    looks: u32,
}

impl Quiet {
    /// Returns which gates to open. After one look without a new call: those that the call's point is behind, so that a
    /// control can still show a missing wait. After two: all gates.
    pub(super) fn look(&mut self, last: &Last, is_any_closed: bool) -> Option<Opens> {
        let is_quiet = is_any_closed && last.number == self.seen;
        *self = Self { seen: last.number, looks: if is_quiet { self.looks + 1 } else { 0 } };
        match self.looks {
            0 => None,
            1 => last.on.filter(|_| last.is_within).map(Opens::For),
            _ => Some(Opens::All),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::mpsc::channel;
    use std::thread;

    use streamflow::driver::Driver;
    use streamflow::driver::host::{HostDriver, Policy};
    use streamflow_driver::driver::{DriverResult, StreamOptions};

    use super::super::{Gates, lock};
    use super::*;

    #[test]
    fn a_host_that_waits_outside_of_the_driver_goes_on() -> DriverResult<()> {
        let below = HostDriver::builder().policy(Policy::Lazy).build();
        let gates = Arc::new(Gates::new(Arc::new(below))?);
        let ended = gates.behind(|driver| {
            let device = streamflow::device(0);
            driver.bind(device)?;
            let stream = driver.create_stream(device, StreamOptions::default())?;
            gates.queue("work", stream, |_| Ok(()))?;
            let (ends, ended) = channel();
            thread::scope(|scope| {
                scope.spawn(|| gates.watch(ended));
                // Loops like a library that waits for the work without driver calls.
                while lock(&gates.held).is_any_closed() {
                    thread::yield_now();
                }
                drop(ends);
            });
            Ok(())
        })?;
        let waited = ended.waited.as_deref();
        assert_eq!(waited, Some("the host has waited outside of the driver, after `work`"));
        assert!(!ended.by_itself);
        ended.with
    }

    #[test]
    fn gates_open_when_no_call_comes() {
        let driver: Arc<dyn Driver> = Arc::new(HostDriver::builder().build());
        let point = Point::Stream(driver.default_stream(streamflow::device(0)));
        let (mut last, mut quiet) = (Last::default(), Quiet::default());
        let launch = last.begin("launch", Some(point));
        assert!(quiet.look(&last, true).is_none(), "the call is new");
        assert!(matches!(quiet.look(&last, true), Some(Opens::For(_))));
        assert!(matches!(quiet.look(&last, true), Some(Opens::All)));
        assert_eq!(last.to_string(), "`launch` has waited for the device");
        assert!(quiet.look(&last, false).is_none(), "no gate is closed");

        // The call has returned, so the host waits for nothing in it.
        last.end(launch);
        assert!(quiet.look(&last, true).is_none());
        assert!(matches!(quiet.look(&last, true), Some(Opens::All)));
        assert_eq!(last.to_string(), "the host has waited outside of the driver, after `launch`");

        // That another thread's earlier call returns late says nothing about the latest call.
        let free = last.begin("free", None);
        last.end(launch);
        assert!(last.is_within && quiet.look(&last, true).is_none());
        assert!(quiet.look(&last, true).is_none(), "the call has no point");
        assert!(matches!(quiet.look(&last, true), Some(Opens::All)));
        last.end(free);
        assert!(!last.is_within);
    }
}
