//! The programs of trials: the seed's application and `edges`, each as a graph and wired by hand, a graph that
//! calls a library, and a graph that is replayed.

use std::sync::{Arc, Mutex, PoisonError};

use streamflow::prelude::*;
use streamflow_examples::edges::{Edges, EdgesApp};
use streamflow_examples::png_io::Image;
use streamflow_examples::seed_app::{HandWired, Streams};
use streamflow_examples::seed_graph::CudaStreamApp;
use streamflow_tests::foreign::CopyLibrary;

use super::by_library::ByLibrary;
use super::replayed::Replayed;

/// The results of a program: for each tick its number, and the bits of its elements.
pub(crate) type Results = Arc<Mutex<Vec<(u64, Vec<u32>)>>>;

/// Returns the reported results, and removes them.
pub(crate) fn take(results: &Results) -> Vec<(u64, Vec<u32>)> {
    std::mem::take(&mut *results.lock().unwrap_or_else(PoisonError::into_inner))
}

/// A program that can be made on a platform.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum World {
    ByLibrary,
    Replayed,
    Seed,
    SeedOnDefault,
    SeedByHand,
    Edges,
    EdgesByHand,
    /// Wired by hand. Downloads are dropped while their copies may still run, and so is the program.
    SeedUnread,
    EdgesUnread,
}

impl World {
    pub(crate) const ALL: [Self; 9] = [
        Self::ByLibrary,
        Self::Replayed,
        Self::Seed,
        Self::SeedOnDefault,
        Self::SeedByHand,
        Self::SeedUnread,
        Self::Edges,
        Self::EdgesByHand,
        Self::EdgesUnread,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::ByLibrary => "by_library",
            Self::Replayed => "replayed",
            Self::Seed => "seed",
            Self::SeedOnDefault => "seed_on_default",
            Self::SeedByHand => "seed_by_hand",
            Self::Edges => "edges",
            Self::EdgesByHand => "edges_by_hand",
            Self::SeedUnread => "seed_unread",
            Self::EdgesUnread => "edges_unread",
        }
    }

    pub(crate) fn make(
        self,
        platform: &Platform,
        results: &Results,
    ) -> Result<Box<dyn Program>, Error> {
        let floats = report(results, f32::to_bits);
        Ok(match self {
            Self::ByLibrary => {
                let library = CopyLibrary::new(platform).map_err(Error::from)?;
                Box::new(ByLibrary::new(platform, library, TICKS, floats)?)
            }
            Self::Replayed => Box::new(Replayed::new(platform, report(results, |it: u32| it))?),
            Self::Seed => Box::new(CudaStreamApp::new(platform, ROWS, COLS, TICKS, false, floats)?),
            Self::SeedOnDefault => {
                Box::new(CudaStreamApp::new(platform, ROWS, COLS, TICKS, true, floats)?)
            }
            Self::SeedByHand | Self::SeedUnread => Box::new((
                HandWired::new(platform, ROWS, COLS, Streams::Pool)?,
                Sink {
                    results: results.clone(),
                    bits: f32::to_bits,
                    reads_all: self == Self::SeedByHand,
                },
            )),
            Self::Edges => {
                Box::new(EdgesApp::new(platform, &image(), TICKS, report(results, u32::from))?)
            }
            Self::EdgesByHand | Self::EdgesUnread => Box::new((
                Edges::new(platform, &image())?,
                Sink {
                    results: results.clone(),
                    bits: u32::from,
                    reads_all: self == Self::EdgesByHand,
                },
            )),
        })
    }
}

/// A program that was made on a platform, and that can be run several times.
pub(crate) trait Program {
    fn run(&mut self) -> Result<(), Error>;
}

const ROWS: usize = 3;
const COLS: u32 = 5;
const TICKS: u64 = 4;

fn image() -> Image {
    let (width, height) = (5, 4);
    let rgb = (0..3 * width * height).map(|i| (i * 37 % 251) as u8).collect();
    Image { width, height, rgb }
}

fn report<T: Copy + 'static>(
    results: &Results,
    bits: fn(T) -> u32,
) -> streamflow_examples::deliver::Report<T> {
    let results = results.clone();
    Box::new(move |tick, values| {
        let values = values.iter().map(|value| bits(*value)).collect();
        results.lock().unwrap_or_else(PoisonError::into_inner).push((tick, values));
        Ok(())
    })
}

/// Where a program that is wired by hand reports its results.
struct Sink<T> {
    results: Results,
    bits: fn(T) -> u32,
    reads_all: bool,
}

impl<T: Element> Sink<T> {
    /// Reads each download while the next tick is queued, and the last one at the end. If `reads_all` is false, reads
    /// only one in the middle, and drops the others.
    fn drain(&self, mut tick: impl FnMut() -> Result<Download<T>, Error>) -> Result<(), Error> {
        if !self.reads_all {
            // The number of ticks is large enough that allocations query the driver about free memory.
            for _ in 0..6 {
                drop(tick()?);
            }
            self.push(6, tick()?.wait_blocking()?);
            return tick().map(drop);
        }
        let mut before: Option<(u64, Download<T>)> = None;
        for number in 0..TICKS {
            let next = (number, tick()?);
            if let Some((number, download)) = before.replace(next) {
                self.push(number, download.wait_blocking()?);
            }
        }
        if let Some((number, download)) = before {
            self.push(number, download.wait_blocking()?);
        }
        Ok(())
    }

    fn push(&self, tick: u64, values: &[T]) {
        let values = values.iter().map(|value| (self.bits)(*value)).collect();
        self.results.lock().unwrap_or_else(PoisonError::into_inner).push((tick, values));
    }
}

impl Program for CudaStreamApp {
    fn run(&mut self) -> Result<(), Error> {
        self.run().map(drop)
    }
}

impl Program for ByLibrary {
    fn run(&mut self) -> Result<(), Error> {
        self.run().map(drop)
    }
}

impl Program for Replayed {
    fn run(&mut self) -> Result<(), Error> {
        self.run().map(drop)
    }
}

impl Program for EdgesApp {
    fn run(&mut self) -> Result<(), Error> {
        self.run().map(drop)
    }
}

impl Program for (HandWired, Sink<f32>) {
    fn run(&mut self) -> Result<(), Error> {
        let (program, sink) = self;
        sink.drain(|| program.tick())
    }
}

impl Program for (Edges, Sink<u8>) {
    fn run(&mut self) -> Result<(), Error> {
        let (program, sink) = self;
        sink.drain(|| program.run())
    }
}
