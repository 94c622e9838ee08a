//! Layers that break the contract of a driver, a clause each, and the outcome for their user: an error of streamflow, a
//! refusal of the simulator, a report of a race checker below the layer, or wrong data.
//!
//! `streamflow/src/guide/a_layer.md` has the table, and names the clauses that other layers of the tests break.

use std::sync::{Arc, Mutex, PoisonError};

use streamflow::driver::host::HostDriver;
use streamflow::driver::{Driver, DriverError};
use streamflow::memory::After;
use streamflow::prelude::*;
use streamflow::stream::CudaGreenContextPool;
use streamflow_driver::driver::race::{RaceChecker, RaceKind};
use streamflow_tests::foreign::{self, ForeignStream, Outside};
use streamflow_tests::kernels::add_one;
use streamflow_tests::layers::{Breaks, Clause};
use streamflow_tests::setup::stream;
use streamflow_tests::{Failed, Suite, check};

/// The outcome of a broken clause that the user sees.
#[derive(Debug)]
enum Shown {
    /// The error [`DriverError::Contract`] with this call and device. `node` is the operator that made the call.
    Contract(&'static str, u32, Option<&'static str>),
    /// The simulator refuses a call: the call's name, and CUDA's name of the error.
    Refused(&'static str, &'static str),
    /// The race checker below the layer reports this kind of race, with this operator as the later side.
    Reported(RaceKind, Option<&'static str>),
    OutOfMemory,
    NoSuchDevice(usize),
    /// The data is wrong under each seed, and nothing is reported.
    WrongData,
    /// The outcome is right: the answer that is wrong is not used twice, or a missing answer is made up for.
    Right,
}

type Program = fn(&Platform) -> Result<Vec<f32>>;

const TABLE: &[(Clause, Program, Shown)] = &[
    (Clause::MemoryHasTheSize, graph, Shown::Contract("allocate", 0, Some("make"))),
    (Clause::MemoryIsAligned, graph, Shown::Contract("allocate", 0, Some("make"))),
    (Clause::MemoryIsReal, graph, Shown::Contract("allocate", 0, Some("make"))),
    (Clause::MemoryHasOneOwner, two_tensors, Shown::Reported(RaceKind::Unordered, None)),
    (Clause::PinnedHasTheSize, pinned, Shown::Contract("allocate_pinned", 0, None)),
    (Clause::FreeFrees, many_tensors, Shown::OutOfMemory),
    (Clause::FreeFreesOnce, many_tensors, Shown::Refused("free", "CUDA_ERROR_INVALID_VALUE")),
    (Clause::FillFills, graph, Shown::WrongData),
    (Clause::CopyCopiesAllBytes, graph, Shown::WrongData),
    (Clause::CopyIsOnItsStream, graph, Shown::Reported(RaceKind::Unordered, Some("keep"))),
    (Clause::LaunchLaunches, graph, Shown::WrongData),
    (Clause::LaunchIsOnItsStream, graph, Shown::Reported(RaceKind::Unordered, Some("add_one"))),
    (Clause::StreamIsOfTheDevice, graph, Shown::Contract("create_stream", 0, None)),
    (Clause::StreamIsNotTheDefault, graph, Shown::Contract("create_stream", 0, None)),
    (Clause::StreamHasOneOwner, graph, Shown::Reported(RaceKind::Stale, None)),
    (Clause::DefaultStreamIsOfTheDevice, graph, Shown::Contract("default_stream", 0, None)),
    (Clause::DeviceOfStreamExists, found, Shown::NoSuchDevice(7)),
    (Clause::EventIsOfTheDevice, graph, Shown::Contract("create_event", 0, None)),
    (Clause::EventHasTiming, timed, Shown::Refused("elapsed", "CUDA_ERROR_INVALID_HANDLE")),
    (Clause::ElapsedIsATime, timed, Shown::Contract("elapsed", 0, None)),
    (Clause::KernelIsOfTheDevice, graph, Shown::Contract("load_kernel", 0, Some("add_one"))),
    (Clause::BlocksHaveThreads, graph, Shown::Contract("load_kernel", 0, Some("add_one"))),
    (Clause::TrimTrims, many_tensors, Shown::Right),
    (Clause::AGreenContextForEachSize, green, Shown::Contract("create_green_contexts", 0, None)),
    (Clause::BindBinds, graph, Shown::Refused("create_event", "CUDA_ERROR_INVALID_CONTEXT")),
    (Clause::DeviceCountStays, graph, Shown::Right),
    (Clause::ObserverIsOfTheDriverBelow, graph, Shown::Contract("observer", 0, None)),
    (Clause::NextIsOfTheDriverBelow, graph, Shown::Contract("observer", 0, None)),
    (Clause::ObserversHaveAnEnd, graph, Shown::Contract("observer", 0, None)),
    (Clause::NotesArePassed, graph, Shown::Reported(RaceKind::Unordered, None)),
    (Clause::RecyclingIsPassed, recycled, Shown::Right),
    (Clause::AdoptionIsPassed, adopted, Shown::Refused("copy", "CUDA_ERROR_INVALID_VALUE")),
];

pub(crate) fn suite() -> Suite {
    let suite = Suite::new().seeded("without_a_broken_clause_each_program_is_right", |seed| {
        TABLE.iter().try_for_each(|(_, program, _)| shows(seed, None, *program, &Shown::Right))
    });
    TABLE.iter().fold(suite, |suite, (clause, program, shown)| {
        suite.seeded(&format!("{clause:?}"), |seed| shows(seed, Some(*clause), *program, shown))
    })
}

/// Runs a program on a platform with a layer that breaks a clause, and compares the outcome with `shown`.
fn shows(seed: u64, clause: Option<Clause>, program: Program, shown: &Shown) -> Result<(), Failed> {
    let host = HostDriver::builder().seed(seed).devices(2).memory(MEMORY).build();
    let checker: Arc<dyn Driver> = Arc::new(RaceChecker::new(Arc::new(host)));
    let layer = Arc::new(Breaks::new(checker.clone(), clause));
    let found = Platform::builder().driver(layer.clone()).map_err(Failed::from);
    let found = found.and_then(|platform| program(&platform));
    check(clause.is_none() || layer.times() > 0, || "the clause was not broken".to_owned())?;
    let races = checker.observer().take_races();
    let error = found.as_ref().err().and_then(|failed| failed.downcast_ref::<Error>());
    let of_run = match error {
        Some(Error::Races(reports)) => &*reports.races,
        _ => &[],
    };
    let driver = error.and_then(Error::find_cause::<DriverError>);
    let is_shown = match *shown {
        Shown::Contract(call, device, node) => {
            let by = node.is_none_or(|node| {
                error.is_some_and(|error| {
                    error.to_string().starts_with(&format!("operator `{node}`"))
                })
            });
            by && matches!(driver, Some(DriverError::Contract { call: made, device: on, .. })
                if (*made, *on) == (call, streamflow::device(device)))
        }
        Shown::Refused(call, name) => {
            matches!(driver, Some(DriverError::Call { call: made, name: is, .. }) if (*made, &**is) == (call, name))
        }
        Shown::Reported(kind, node) => races.races.iter().chain(of_run).any(|race| {
            race.kind == kind && race.later.hook.as_ref().map(|hook| &*hook.node) == node
        }),
        Shown::OutOfMemory => matches!(error, Some(Error::OutOfMemory { .. })),
        Shown::NoSuchDevice(index) => {
            matches!(error, Some(Error::NoSuchDevice { device, .. }) if device.index() == index)
        }
        Shown::WrongData => matches!(&found, Ok(data) if *data != RIGHT) && races.is_empty(),
        Shown::Right => matches!(&found, Ok(data) if *data == RIGHT) && races.is_empty(),
    };
    check(is_shown, || format!("{shown:?} is not shown, but: {found:?}, {races}"))
}

/// The size of the device's memory, in bytes.
const MEMORY: u64 = 1 << 20;
const LEN: usize = 256;
const RIGHT: [f32; LEN] = [1.0; LEN];

#[operator(streams(make))]
struct Make {
    #[output]
    image: Tensor<f32>,
}

impl Compute for Make {
    fn compute(&mut self, io: MakeIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let stream = cx.allocate_cuda_stream(io.make)?;
        let mut image = cx.tensor([LEN], &stream)?;
        stream.fill_bytes(&mut image, 0)?;
        io.image.set_cuda_stream(&stream).emit(image)
    }
}

#[operator]
struct AddOne {
    #[input]
    image: Tensor<f32>,
    #[output]
    sum: Tensor<f32>,
}

impl Compute for AddOne {
    fn compute(&mut self, io: AddOneIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (mut image, stream) = io.image.receive().receive_cuda_stream(cx)?;
        stream.launch::<add_one>(LEN, (&mut image,))?;
        io.sum.emit(image)
    }
}

#[operator]
struct Keep {
    #[input]
    image: Tensor<f32>,
    kept: Arc<Mutex<Vec<f32>>>,
}

impl Compute for Keep {
    fn compute(&mut self, io: KeepIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (image, stream) = io.image.receive().receive_cuda_stream(cx)?;
        let data = stream.download_blocking(&image)?;
        *self.kept.lock().unwrap_or_else(PoisonError::into_inner) = data;
        Ok(())
    }
}

graph! {
    struct Line(kept: Arc<Mutex<Vec<f32>>>) {
        const STREAMS: CudaStreamPool = CudaStreamPool::new().max_size(4);

        #[streams(STREAMS)] #[when(count(1))]
        let make: Make = Make::new();
        #[streams(STREAMS)]
        let add_one: AddOne = AddOne::new();
        #[streams(STREAMS)]
        let keep: Keep = Keep::new(kept);

        make.image >> add_one.image;
        add_one.sum >> keep.image;
    }
}

fn graph(platform: &Platform) -> Result<Vec<f32>> {
    let kept = Arc::default();
    Line::new(platform, Arc::clone(&kept))?.run()?;
    let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
    Ok(std::mem::take(&mut kept))
}

/// Returns what a program reads from memory that had another owner before.
fn recycled(platform: &Platform) -> Result<Vec<f32>> {
    let stream = stream(platform)?;
    let mut image = platform.tensor([LEN], &stream)?;
    stream.fill_bytes::<f32>(&mut image, 1)?;
    drop(image);
    let mut image = platform.tensor([LEN], &stream)?;
    stream.upload_blocking(&RIGHT, &mut image)?;
    Ok(stream.download_blocking(&image)?)
}

fn adopted(platform: &Platform) -> Result<Vec<f32>> {
    let stream = stream(platform)?;
    let mut image = Outside::new(platform, LEN)?.adopt(platform, After::Complete)?;
    stream.upload_blocking(&RIGHT, &mut image)?;
    Ok(stream.download_blocking(&image)?)
}

fn two_tensors(platform: &Platform) -> Result<Vec<f32>> {
    let pool = platform.stream_pool("POOL", &CudaStreamPool::new().max_size(2))?;
    let (one, other) = (pool.allocate("one")?, pool.allocate("other")?);
    let (mut image, mut zeros) = (platform.tensor([LEN], &one)?, platform.tensor([LEN], &other)?);
    one.upload_blocking(&RIGHT, &mut image)?;
    other.fill_bytes::<f32>(&mut zeros, 0)?;
    Ok(one.download_blocking(&image)?)
}

fn many_tensors(platform: &Platform) -> Result<Vec<f32>> {
    let stream = stream(platform)?;
    for _ in 0..8 {
        drop(platform.tensor::<f32>([MEMORY as usize / 16], &stream)?);
        platform.trim()?;
    }
    Ok(RIGHT.to_vec())
}

fn pinned(platform: &Platform) -> Result<Vec<f32>> {
    let stream = stream(platform)?;
    let image = platform.upload(&RIGHT)?;
    Ok(stream.download(&image)?.wait_blocking()?.to_vec())
}

fn found(platform: &Platform) -> Result<Vec<f32>> {
    let theirs = ForeignStream::create(platform, device(0))?;
    drop(foreign::find(platform, theirs.handle())?);
    Ok(RIGHT.to_vec())
}

fn timed(platform: &Platform) -> Result<Vec<f32>> {
    let stream = stream(platform)?;
    let begin = stream.record_timing()?;
    begin.elapsed_blocking(&stream.record_timing()?)?;
    Ok(RIGHT.to_vec())
}

fn green(platform: &Platform) -> Result<Vec<f32>> {
    let pool = CudaGreenContextPool::new().sms_per_partition(&[8, 16]);
    let partitions = platform.green_contexts(&pool)?.partitions().len();
    Ok(vec![1.0; LEN * partitions / 2])
}
