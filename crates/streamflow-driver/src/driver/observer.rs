//! Observers: they are told facts of a program that no driver call shows, and return reports.
//!
//! [`Driver`] has CUDA's calls and no others. Some facts of a program appear in no call: which operator makes a call, that the
//! host reads memory, that memory passes to a new owner without a free, that a pass over a graph begins. The modules that own
//! these facts tell them to the [observer](Driver::observer) of the driver. The memory pools tell about memory, the streams about
//! handles, the scheduler about passes.
//!
//! The race checker, the driver that replays, the recorder and the simulator are observers. Each observer passes its facts on to
//! the [next](Observer::next) one. A layer that is not an observer returns the driver below's observer from
//! [`observer`](Driver::observer).

use super::passes::Replays;
use super::report::{RaceMark, RaceReports};
use super::{DeviceId, DriverResult, MemoryRange, Note, RawStream};

#[cfg(doc)]
use super::Driver;

/// Receives facts that the calls of a driver don't show, and reports what it has found.
///
/// By default each method passes its fact to the [next](Self::next) observer, and returns that observer's answer.
/// Without a next observer, a fact is dropped, and no race is reported. An observer that overrides a method must pass
/// the fact on itself.
///
/// A method returns a result if an observer, such as the simulator, executes its fact in the order of a stream: that may fail.
pub trait Observer: Send + Sync {
    /// The observer of the driver below; `None` for a driver that wraps no other driver.
    fn next(&self) -> Option<&dyn Observer>;

    /// Tells that `range` passes to a new owner on `stream` without a call to [`free`](Driver::free) and
    /// [`allocate`](Driver::allocate).
    ///
    /// The simulator overwrites the range with poison in stream order, and the race checker counts that as a write. CUDA's driver
    /// refuses the call after a sticky error.
    ///
    /// # Safety
    /// `stream` is live, `range` is allocated, and no work reads the content from before this call any more.
    unsafe fn recycle(&self, stream: RawStream, range: MemoryRange) -> DriverResult<()> {
        match self.next() {
            // SAFETY: the caller keeps the same contract.
            Some(next) => unsafe { next.recycle(stream, range) },
            None => Ok(()),
        }
    }

    /// Tells that work may use `range` from now on: memory of other code that the device can access.
    ///
    /// The simulator treats the memory as the device's from then on, and the race checker checks its uses. CUDA's driver refuses
    /// the call after a sticky error.
    ///
    /// # Safety
    /// The memory is initialised, and is not freed before it was [disowned](Self::disown) and all work queued before that call
    /// has executed.
    unsafe fn adopt(&self, device: DeviceId, range: MemoryRange) -> DriverResult<()> {
        match self.next() {
            // SAFETY: the caller keeps the same contract.
            Some(next) => unsafe { next.adopt(device, range) },
            None => Ok(()),
        }
    }

    /// Tells that no work queued after this call uses memory that was [adopted](Self::adopt). `stream` is on the memory's device.
    ///
    /// The race checker counts the call as a free.
    ///
    /// # Safety
    /// `stream` is live, and `range` was adopted and is disowned once. Every use of it is complete, or ordered before
    /// this point of `stream`.
    unsafe fn disown(&self, stream: RawStream, range: MemoryRange) -> DriverResult<()> {
        match self.next() {
            // SAFETY: the caller keeps the same contract.
            Some(next) => unsafe { next.disown(stream, range) },
            None => Ok(()),
        }
    }

    /// Tells that other code gets the handle of `stream`, and may queue work there without a call of this driver. Calls
    /// of this stream that a replaying driver was holding back are queued before this call returns, and later calls are
    /// not held back.
    ///
    /// # Safety
    /// `stream` is live.
    unsafe fn hand_out(&self, stream: RawStream) {
        if let Some(next) = self.next() {
            // SAFETY: the caller keeps the same contract.
            unsafe { next.hand_out(stream) };
        }
    }

    /// Tells that the caller has released the locks that it held during earlier calls. A simulator executes bodies of
    /// kernels on the threads that call it, but not under a lock of this library; bodies that it postponed for that
    /// reason execute now.
    fn catch_up(&self) {
        if let Some(next) = self.next() {
            next.catch_up();
        }
    }

    /// The part of the driver that [replays](super::replay) passes. A scheduler tells that part where passes begin and
    /// end. `None` for a driver that does not replay.
    #[doc(hidden)]
    fn replays(&self) -> Option<&dyn Replays> {
        self.next().and_then(Observer::replays)
    }

    /// Whether this observer or one after it uses [notes](Note). A platform queries this once, when it is made, and
    /// sends no notes if the answer is `false`.
    fn watches(&self) -> bool {
        self.next().is_some_and(Observer::watches)
    }

    /// Takes a note: a fact about the calling thread, for example about the operator that makes its calls, or about
    /// memory that the host touches itself.
    ///
    /// # Safety
    /// The note is true. A [race checker](super::race) relies on it, and a program may rely on a checker that reports
    /// nothing.
    ///
    /// So no safe code can silence a checker, as it could by a false note that a stream is complete:
    /// ```compile_fail,E0133
    /// # use streamflow_driver::driver::{Driver, Note, RawStream};
    /// fn silence(driver: &dyn Driver, stream: RawStream) {
    ///     driver.observer().observe(&Note::Relies { on: stream, record: None, by: None });
    /// }
    /// ```
    unsafe fn observe(&self, note: &Note<'_>) {
        if let Some(next) = self.next() {
            // SAFETY: the caller keeps the same contract.
            unsafe { next.observe(note) };
        }
    }

    /// Whether queued work is executed while the host makes no call. A device does that; a simulator may execute work
    /// only within calls, and then a wait of the host that makes no calls would never end.
    fn works_alone(&self) -> bool {
        self.next().is_none_or(Observer::works_alone)
    }

    /// The seed that repeats the order in which the driver executes work; `None` for a device, and if no seed chose that order.
    fn seed(&self) -> Option<u64> {
        self.next().and_then(Observer::seed)
    }

    /// The races that were found since this method last updated `mark`, or since `mark` was made; none without a race
    /// checker. The call updates `mark`. Other marks are not changed.
    fn races_since(&self, mark: &mut RaceMark) -> RaceReports {
        self.next().map(|next| next.races_since(mark)).unwrap_or_default()
    }

    /// The races that were found since the last call of this method by any caller; none without a race checker. The
    /// call changes no [`RaceMark`]: [`races_since`](Self::races_since) returns the same races, too.
    fn take_races(&self) -> RaceReports {
        self.next().map(Observer::take_races).unwrap_or_default()
    }

    /// The races that [`take_races`](Self::take_races) has returned so far, as a mark: races found after this mark are
    /// not taken yet.
    fn taken_races(&self) -> RaceMark {
        self.next().map(Observer::taken_races).unwrap_or_default()
    }
}

/// An observer that ignores facts and reports nothing.
impl Observer for () {
    fn next(&self) -> Option<&dyn Observer> {
        None
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use std::sync::{Arc, Mutex};

    use super::*;
    use crate::driver::host::HostDriver;
    use crate::driver::race::RaceChecker;
    use crate::driver::replay::Replaying;
    use crate::driver::{BlockingLaunches, Driver, Layer, MemorySource, Recorder, StreamOptions};

    /// An observer at the end of a chain. It lists the facts that it is told, and returns values that no other observer returns.
    #[derive(Debug)]
    struct Last {
        host: HostDriver,
        told: Arc<Mutex<Vec<&'static str>>>,
    }

    impl Last {
        fn list(&self, fact: &'static str) {
            self.told.lock().unwrap().push(fact);
        }
    }

    // SAFETY: every call is passed to the simulator below.
    unsafe impl Layer for Last {
        fn below(&self) -> &dyn Driver {
            &self.host
        }

        fn observer(&self) -> &dyn Observer {
            self
        }
    }

    impl Observer for Last {
        fn next(&self) -> Option<&dyn Observer> {
            None
        }

        unsafe fn recycle(&self, _: RawStream, _: MemoryRange) -> DriverResult<()> {
            self.list("recycle");
            Ok(())
        }

        unsafe fn adopt(&self, _: DeviceId, _: MemoryRange) -> DriverResult<()> {
            self.list("adopt");
            Ok(())
        }

        unsafe fn disown(&self, _: RawStream, _: MemoryRange) -> DriverResult<()> {
            self.list("disown");
            Ok(())
        }

        unsafe fn hand_out(&self, _: RawStream) {
            self.list("hand_out");
        }

        fn catch_up(&self) {
            self.list("catch_up");
        }

        fn watches(&self) -> bool {
            true
        }

        unsafe fn observe(&self, _: &Note<'_>) {
            self.list("tell");
        }

        fn works_alone(&self) -> bool {
            false
        }

        fn seed(&self) -> Option<u64> {
            Some(7)
        }

        fn take_races(&self) -> RaceReports {
            RaceReports { unknown: 5, ..RaceReports::default() }
        }
    }

    /// A function that wraps a driver in one or more layers.
    type Layered = fn(Arc<dyn Driver>) -> Arc<dyn Driver>;

    /// The layers under test: each layer of the library alone, and all of them together as a platform wraps them, under
    /// a recorder.
    const LAYERS: [(&str, Layered); 5] = [
        ("blocking", |below| Arc::new(BlockingLaunches::new(below))),
        ("replaying", |below| Arc::new(Replaying::over(below))),
        ("race checker", |below| Arc::new(RaceChecker::new(below))),
        ("recorder", |below| Arc::new(Recorder::new(below))),
        ("all", |below| {
            let blocking = Arc::new(BlockingLaunches::new(Arc::new(Replaying::over(below))));
            Arc::new(Recorder::new(Arc::new(RaceChecker::new(blocking))))
        }),
    ];

    #[test]
    fn each_fact_gets_through_all_layers_once() {
        for (name, layered) in LAYERS {
            let told = Arc::new(Mutex::new(Vec::new()));
            let host = HostDriver::builder().build();
            let driver = layered(Arc::new(Last { host, told: told.clone() }));
            let device = DeviceId(0);
            driver.bind(device).unwrap();
            let stream = driver.create_stream(device, StreamOptions::default()).unwrap();
            told.lock().unwrap().clear();
            let observer = driver.observer();
            let adopted = MemoryRange { address: 0x1000, bytes: 64 };
            // SAFETY: the stream is live, and no work uses the memory. The note is true: nothing was queued.
            unsafe {
                let range = driver.allocate(stream, 64, MemorySource::Unused).unwrap();
                observer.recycle(stream, range).unwrap();
                observer.adopt(device, adopted).unwrap();
                observer.disown(stream, adopted).unwrap();
                observer.hand_out(stream);
                observer.observe(&Note::Relies { on: stream, record: None, by: None });
            }
            observer.catch_up();
            let expected = ["recycle", "adopt", "disown", "hand_out", "tell", "catch_up"];
            let mut found = told.lock().unwrap().clone();
            // The replaying driver calls `catch_up` also after its own calls, so a fact may appear twice in a row.
            found.dedup();
            assert_eq!(found, expected, "{name}");
            assert!(observer.watches() && !observer.works_alone(), "{name}");
            assert_eq!(observer.seed(), Some(7), "{name}");
            assert_eq!(observer.replays().is_some(), matches!(name, "replaying" | "all"), "{name}");
            let has_checker = matches!(name, "race checker" | "all");
            let reports = observer.take_races();
            // Only a race checker returns its own reports, with the seed of the driver below.
            let (unknown, seed) = if has_checker { (0, Some(7)) } else { (5, None) };
            assert_eq!((reports.unknown, reports.seed), (unknown, seed), "{name}");
        }
    }

    #[test]
    fn a_driver_without_an_observer_is_told_nothing_and_works_alone() {
        let observer: &dyn Observer = &();
        observer.catch_up();
        assert!(!observer.watches() && observer.works_alone());
        assert_eq!(observer.seed(), None);
        assert!(observer.replays().is_none() && observer.take_races().is_empty());
    }
}
