//! What is attached to the streams: it is asked when work is complete, and dropped after the work that uses it.

use super::*;
use crate::driver::host::LogEntry;

/// Has one error to tell.
struct Tells(Mutex<Option<Error>>);

impl Attached for Tells {
    fn inspect(&self, _: DeviceId) -> Result<()> {
        self.0.lock().unwrap().take().map_or(Ok(()), Err)
    }

    fn is_used_by(&self, _: DeviceId) -> bool {
        false
    }
}

/// By the first answer that work is complete, and by no other.
#[test]
fn what_work_left_behind_is_told_when_it_is_complete() {
    let bench = bench(Policy::Lazy);
    let a = bench.stream();
    let mut data = bench.platform.buffer::<u8>(1, &a).unwrap();
    let tells = a.table().attached(|_| Tells(Mutex::default()));
    let error = Error::Other("an index out of range".to_owned());
    let ways: [&dyn Fn(Point) -> Result<bool>; 3] =
        [&|_| a.is_complete(), &|point| bench.platform.is_complete(point), &|_| {
            a.synchronize_blocking().map(|()| true)
        }];
    for (index, complete) in ways.into_iter().enumerate() {
        a.fill_bytes(&mut data, 1).unwrap();
        let point = a.record().unwrap();
        *tells.0.lock().unwrap() = Some(error.clone());
        let mut answers = (0..100).map(|_| complete(point));
        if index < 2 {
            assert_eq!(answers.next(), Some(Ok(false)), "executed before anybody asks");
        }
        assert_eq!(answers.find(|answer| *answer != Ok(false)), Some(Err(error.clone())));
        a.synchronize_blocking().unwrap();
    }
    let again = a.table().attached(|_| Tells(Mutex::default()));
    assert!(std::ptr::eq(tells, again), "made once");
}

/// Is used by work of every device.
struct Used(mpsc::Sender<usize>, Arc<HostDriver>);

impl Attached for Used {
    fn inspect(&self, _: DeviceId) -> Result<()> {
        Ok(())
    }

    fn is_used_by(&self, _: DeviceId) -> bool {
        true
    }
}

impl Drop for Used {
    fn drop(&mut self) {
        let fills = |it: &&LogEntry| matches!(it.action, LogAction::Fill { .. });
        self.0.send(self.1.log().iter().filter(fills).count()).unwrap();
    }
}

#[test]
fn what_work_uses_is_dropped_after_it() {
    let bench = bench(Policy::Lazy);
    let (a, b) = (bench.stream(), bench.stream());
    let (dropped, fills) = mpsc::channel();
    a.table().attached(|_| Used(dropped.clone(), bench.host.clone()));
    for stream in [a, b] {
        let mut data = bench.platform.buffer::<u8>(1, &stream).unwrap();
        stream.fill_bytes(&mut data, 1).unwrap();
    }
    assert_eq!(bench.fills(), 0);
    drop(bench);
    assert_eq!(fills.try_recv(), Ok(2));
}
