//! cudarc's automatic tracking, rebuilt on the trait `Driver`. Each slice has one event for its last write and one for
//! its last read. A second reader records the read's event again. Measured on an H200: with two readers, the write and
//! the free overtake the slower reader.

use streamflow::driver::RawStream;
use streamflow::prelude::*;
use streamflow::stream::StreamFlags;
use streamflow_driver::driver::race::RaceAction;
use streamflow_driver::driver::{DriverResult, MemoryRange, RawEvent};
use streamflow_tests::foreign::Bare;
use streamflow_tests::{Failed, Suite, check};

pub(super) fn add(suite: Suite) -> Suite {
    suite
        .both("cudarc_hazard_a_a_write_after_two_readers_races", |platform| {
            hazard(platform, 2, write, &RaceAction::Fill)
        })
        .both("cudarc_hazard_b_a_free_after_two_readers_races", |platform| {
            hazard(platform, 2, free, &RaceAction::Free)
        })
        .both("cudarc_with_one_reader_does_not_race", |platform| {
            none(platform, 1, write)?;
            none(platform, 1, free)
        })
}

/// A slice with the events by which cudarc 0.19.10 tracks it.
struct CudaSlice<'a> {
    bare: &'a Bare,
    /// The stream on which the slice was allocated.
    stream: RawStream,
    range: MemoryRange,
    read: RawEvent,
    write: RawEvent,
}

impl<'a> CudaSlice<'a> {
    fn new(bare: &'a Bare, stream: RawStream) -> DriverResult<Self> {
        let range = bare.allocate(stream)?;
        let slice = Self { bare, stream, range, read: bare.event()?, write: bare.event()? };
        bare.record(slice.write, stream)?;
        Ok(slice)
    }

    /// `launch_builder.arg(&slice)`: makes `stream` wait for the last write, and records the read.
    fn read_on(&self, stream: RawStream) -> DriverResult<()> {
        self.bare.wait(stream, self.write)?;
        self.bare.read(stream, self.range)?;
        self.bare.record(self.read, stream)
    }

    /// `launch_builder.arg(&mut slice)`: makes `stream` wait for the last read and the last write, and records the
    /// write.
    fn write_on(&self, stream: RawStream) -> DriverResult<()> {
        self.bare.wait(stream, self.read)?;
        self.bare.wait(stream, self.write)?;
        self.bare.write(stream, self.range)?;
        self.bare.record(self.write, stream)
    }

    /// `drop`: makes the stream of the allocation wait for the last read and the last write, and frees the memory on
    /// it.
    fn free(&self) -> DriverResult<()> {
        self.bare.wait(self.stream, self.read)?;
        self.bare.wait(self.stream, self.write)?;
        self.bare.free(self.stream, self.range)
    }
}

fn write(slice: &CudaSlice<'_>) -> DriverResult<()> {
    slice.write_on(slice.stream)
}

fn free(slice: &CudaSlice<'_>) -> DriverResult<()> {
    slice.free()
}

type End = fn(&CudaSlice<'_>) -> DriverResult<()>;

/// Reads the slice on several streams, and then writes it or frees it.
fn run(bare: &Bare, readers: usize, end: End) -> DriverResult<()> {
    let owner = bare.stream(StreamFlags::NonBlocking)?;
    let slice = CudaSlice::new(bare, owner)?;
    slice.write_on(owner)?;
    for _ in 0..readers {
        slice.read_on(bare.stream(StreamFlags::NonBlocking)?)?;
    }
    end(&slice)
}

fn hazard(
    platform: &Platform,
    readers: usize,
    end: End,
    action: &RaceAction,
) -> Result<(), Failed> {
    let bare = Bare::new(platform.driver().clone())?;
    run(&bare, readers, end)?;
    let races = bare.races();
    drop(bare);
    let _the_same_below = platform.take_races();
    let [race] = &races.races[..] else { return Err(Failed::msg(races)) };
    // The race is with the first reader, since the second reader has recorded the same event again.
    let right = race.earlier.action == RaceAction::Copy("source")
        && race.earlier.stream.as_deref() == Some("stream 2")
        && race.later.action == *action
        && race.later.stream.as_deref() == Some("stream 1");
    check(right, || races.to_string())
}

fn none(platform: &Platform, readers: usize, end: End) -> Result<(), Failed> {
    let bare = Bare::new(platform.driver().clone())?;
    run(&bare, readers, end)?;
    let races = bare.races();
    check(races.is_empty(), || races.to_string())
}
