//! Checks that streamflow allocates and frees memory of CUDA only on streams without other work. Once a stream
//! has allocated or freed memory of a pool, each record and each wait on it costs more, for good.

use std::env;
use std::fs::OpenOptions;
use std::io::Write;
use std::sync::Arc;

use streamflow::kernel::Function;
use streamflow::memory::{Allocator, MemoryLimits, MemoryOptions};
use streamflow::prelude::*;
use streamflow::stream::StreamFlags;
use streamflow_tests::foreign::{self, Bare};
use streamflow_tests::greedy::greedy;
use streamflow_tests::layers::DropWaits;
use streamflow_tests::{Failed, check, check_equal};

use super::library;
use super::trial::{self, LOG, Log};

/// The role of the child processes.
pub(crate) const ROLE: &str = "memory streams";

/// The environment variable with the name of the process's program.
const PROGRAM: &str = "STREAMFLOW_TEST_PROGRAM";

const RUNS: usize = 3;
const TICKS: u64 = 10;
const LEN: usize = 1024;

/// A source whose message takes, in each tick, the memory of the message before, which had another size. Its
/// scratch memory returns to the driver.
#[operator(streams(work))]
struct Source {
    #[output]
    data: Buffer<u32>,
    add: Function,
    room: Allocator,
}

impl Compute for Source {
    fn compute(&mut self, io: SourceIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let stream = cx.allocate_cuda_stream(io.work)?;
        let mut scratch = cx.buffer::<u32>(LEN, &stream)?;
        stream.fill_bytes(&mut scratch, 1)?;
        let mut data =
            self.room.buffer(if cx.tick().is_multiple_of(2) { LEN } else { 2 * LEN }, &stream)?;
        stream.fill_bytes(&mut data, 1)?;
        foreign::launch_add(&stream, &self.add, &mut data, 4)?;
        io.data.set_cuda_stream(&stream).emit(data)
    }
}

#[operator]
struct Sink {
    #[input]
    data: Buffer<u32>,
    add: Function,
}

impl Compute for Sink {
    fn compute(&mut self, io: SinkIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (mut data, stream) = io.data.receive().receive_cuda_stream(cx)?;
        foreign::launch_add(&stream, &self.add, &mut data, 5)?;
        let values = stream.download_blocking(&data)?;
        check_equal(values.iter().all(|value| *value == 0x0101_010a), true)?;
        Ok(())
    }
}

graph! {
    struct Room(add: Function, room: Allocator) {
        const STREAMS: CudaStreamPool = CudaStreamPool::new();

        #[streams(STREAMS)] #[when(count(TICKS))]
        let source: Source = Source::new(add.clone(), room);
        #[streams(STREAMS)]
        let sink: Sink = Sink::new(add);

        source.data >> sink.data;
    }
}

/// Runs a program in a process of its own.
pub(crate) fn play() -> Result<(), Failed> {
    let program = env::var(PROGRAM)?;
    let path = env::var_os(LOG).ok_or_else(|| Failed::msg("there is no log"))?;
    let mut file = OpenOptions::new().append(true).open(path)?;
    writeln!(file, "round first")?;
    let memory = MemoryOptions::new().release_threshold(0);
    let builder = || Platform::builder().race_check(false).memory(memory);
    let cuda = builder().cuda()?;
    match &*program {
        "graphs" => graphs(&cuda)?,
        "without waits" => {
            graphs(&builder().driver(Arc::new(DropWaits::all(cuda.driver().clone())))?)?;
        }
        _ => by_hand(&cuda)?,
    }
    writeln!(file, "end")?;
    Ok(())
}

/// Runs several graphs: streams of an allocator that was dropped may be given to the next graph.
fn graphs(platform: &Platform) -> Result<(), Failed> {
    for _ in 0..RUNS {
        let add = foreign::module(platform, device(0), foreign::ADD_PTX)?.function("add")?;
        let limits = MemoryLimits::stream_ordered().max_size(8 * LEN as u64);
        let room = platform.allocator("ROOM", device(0), limits)?;
        greedy(Room::new(platform, add, room)?)?.run()?;
    }
    Ok(())
}

/// A control: memory is freed on the stream that has worked with it.
fn by_hand(platform: &Platform) -> Result<(), Failed> {
    let bare = Bare::unwatched(platform.driver().clone())?;
    let stream = bare.stream(StreamFlags::NonBlocking)?;
    let memory = bare.allocate(stream)?;
    bare.write(stream, memory)?;
    Ok(bare.free(stream, memory)?)
}

fn log_of(program: &str) -> Result<Log, Failed> {
    let folder = tempfile::tempdir()?;
    library::install(&folder.path().join("lib"))?;
    let log =
        trial::run_as(ROLE, &folder.path().join("lib"), folder.path(), &[(PROGRAM, program)])?;
    check(log.has_ended && log.rounds.len() == 1, || format!("it has not ended: {log:?}"))?;
    Ok(log)
}

pub(crate) fn working() -> Result<(), Failed> {
    let log = log_of("graphs")?;
    for function in ["cuMemAllocFromPoolAsync", "cuMemFreeAsync"] {
        let calls = log.rounds[0].calls.iter().filter(|call| *call == function).count();
        // Each tick allocates at least its scratch memory and its message.
        let least = 2 * RUNS * TICKS as usize;
        check(calls >= least, || format!("{calls} calls of {function}, not {least}"))?;
    }
    check(log.wrong.is_empty(), || format!("{:?}", log.wrong))?;
    check_equal(log.memory_in_order, 0)
}

/// A control: if a stream does not wait for the stream that has allocated its memory, the fake CUDA reports it.
pub(crate) fn unordered() -> Result<(), Failed> {
    let log = log_of("without waits")?;
    let is_early = |text: &String| text.ends_with("is used before its allocation");
    check(!log.wrong.is_empty() && log.wrong.iter().all(is_early), || format!("{:?}", log.wrong))
}

/// A control: a stream that both works and frees memory is counted.
pub(crate) fn counted() -> Result<(), Failed> {
    check_equal(log_of("by hand")?.memory_in_order, 1)
}
