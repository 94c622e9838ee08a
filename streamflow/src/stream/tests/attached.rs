//! Tests of the value that is attached to the streams. It is inspected when work is complete, and dropped after the work that
//! uses it.

use super::*;
use crate::driver::host::LogEntry;

/// A value whose first inspection returns an error, and later ones none.
struct ReportsOnce(Mutex<Option<Error>>);

impl Attached for ReportsOnce {
    fn inspect(&self, _: DeviceId) -> Result<()> {
        self.0.lock().unwrap().take().map_or(Ok(()), Err)
    }

    fn is_used_by(&self, _: DeviceId) -> bool {
        false
    }
}

/// The first query that finds the work complete returns the error, and later queries return none.
#[test]
fn an_error_of_work_is_reported_when_the_work_is_complete() {
    let bench = bench(Policy::Lazy);
    let a = bench.stream();
    let mut data = bench.platform.buffer::<u8>(1, &a).unwrap();
    let reports = a.table().attached(|_| ReportsOnce(Mutex::default()));
    let (kernel, argument) = ("scale".to_owned(), "data".to_owned());
    let error = Error::OutOfBounds { kernel, argument, index: 4, length: 4 };
    let ways: [&dyn Fn(Point) -> Result<bool>; 3] =
        [&|_| a.is_complete(), &|point| bench.platform.is_complete(point), &|_| {
            a.synchronize_blocking().map(|()| true)
        }];
    for (index, complete) in ways.into_iter().enumerate() {
        a.fill_bytes(&mut data, 1).unwrap();
        let point = a.record().unwrap();
        *reports.0.lock().unwrap() = Some(error.clone());
        let mut answers = (0..100).map(|_| complete(point));
        if index < 2 {
            assert_eq!(answers.next(), Some(Ok(false)), "executed before the first query");
        }
        assert_eq!(answers.find(|answer| *answer != Ok(false)), Some(Err(error.clone())));
        a.synchronize_blocking().unwrap();
    }
    let again = a.table().attached(|_| ReportsOnce(Mutex::default()));
    assert!(std::ptr::eq(reports, again), "made once");
}

/// A value that work of every device uses. When it is dropped, it sends how many fills the simulator has executed.
struct UsedByWork(mpsc::Sender<usize>, Arc<HostDriver>);

impl Attached for UsedByWork {
    fn inspect(&self, _: DeviceId) -> Result<()> {
        Ok(())
    }

    fn is_used_by(&self, _: DeviceId) -> bool {
        true
    }
}

impl Drop for UsedByWork {
    fn drop(&mut self) {
        let fills = |it: &&LogEntry| matches!(it.action, LogAction::Fill { .. });
        self.0.send(self.1.log().iter().filter(fills).count()).unwrap();
    }
}

#[test]
fn an_attached_value_is_dropped_after_the_work_that_uses_it() {
    let bench = bench(Policy::Lazy);
    let (a, b) = (bench.stream(), bench.stream());
    let (dropped, fills) = mpsc::channel();
    a.table().attached(|_| UsedByWork(dropped.clone(), bench.host.clone()));
    for stream in [a, b] {
        let mut data = bench.platform.buffer::<u8>(1, &stream).unwrap();
        stream.fill_bytes(&mut data, 1).unwrap();
    }
    assert_eq!(bench.fills(), 0);
    drop(bench);
    assert_eq!(fills.try_recv(), Ok(2));
}
