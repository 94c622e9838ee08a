//! Calls that should write memory fail, and the hook drops their errors. Checks that no data is lost silently.

use std::sync::{Arc, Mutex, PoisonError};

use streamflow::Stream;
use streamflow::kernel::reductions::Sum;
use streamflow::memory::Pinned;
use streamflow::prelude::*;
use streamflow_tests::kernels::{add_one, fill, slow_copy};
use streamflow_tests::layers::{CallKind, FailNth};
use streamflow_tests::{Failed, Suite, check, check_equal, check_error, check_text};

pub(crate) fn add(suite: Suite) -> Suite {
    suite
        .both("memory_of_a_failed_call_is_not_sent", sent)
        .both("memory_of_a_refused_call_is_not_sent", refused)
        .both("memory_of_a_failed_call_is_not_used", used)
        .both("memory_of_a_call_that_failed_in_start_is_not_used_in_a_tick", kept)
        .both("an_operator_that_handles_a_failed_call_goes_on", handled)
        .both("the_other_half_of_memory_that_is_not_written_is_used", halves)
        .both("a_call_whose_error_is_returned_marks_nothing", returned)
        .both("a_hook_that_loses_a_message_has_dropped_its_other_errors_too", lost)
        .both("a_failed_call_outside_of_a_hook_marks_nothing", outside)
}

/// The shape of all tensors in these tests.
const SHAPE: [usize; 2] = [2, 4];
const LEN: usize = 8;
const TICKS: u64 = 3;

/// The operands of the calls in a tick.
struct Memory<'t> {
    stream: Stream<'t>,
    cx: &'t ExecutionContext,
    /// Page-locked memory full of 7.
    host: Pinned<f32>,
    /// A tensor full of 5.
    other: Tensor<f32>,
    /// The tensor that calls write. It is full of 3 before.
    target: Tensor<f32>,
}

impl<'t> Memory<'t> {
    fn new(stream: Stream<'t>, cx: &'t ExecutionContext) -> Result<Self> {
        let mut host = cx.pinned(LEN)?;
        host.as_mut_slice_blocking()?.fill(7.0);
        let (mut other, mut target) = (cx.tensor(SHAPE, &stream)?, cx.tensor(SHAPE, &stream)?);
        stream.launch::<fill>(LEN, (&mut other, 5.0))?;
        stream.launch::<fill>(LEN, (&mut target, 3.0))?;
        Ok(Self { stream, cx, host, other, target })
    }

    /// The left half of the target's rows: a part with gaps.
    fn copy_to_a_part(&mut self) -> Result<(), Error> {
        let from = self.other.view().slice(1, 0..2);
        let to = self.target.view_mut().slice(1, 0..2);
        let (Some(from), Some(mut to)) = (from, to) else { return Ok(()) };
        self.stream.copy(&from, &mut to)
    }
}

/// The call that an operator makes in tick 1.
type Call = fn(&mut Memory<'_>) -> Result<(), Error>;

/// Calls that fail in the driver: the kind of the driver's call, and the first and the last element of the target if it does
/// not fail.
const FAILING: &[(&str, CallKind, [f32; 2], Call)] = &[
    ("upload", CallKind::Copy, [7.0; 2], |m| m.stream.upload(&m.host, &mut m.target)),
    ("upload_blocking", CallKind::Copy, [2.0; 2], |m| {
        m.stream.upload_blocking(&[2.0; LEN], &mut m.target)
    }),
    ("copy", CallKind::Copy, [5.0; 2], |m| m.stream.copy(&m.other, &mut m.target)),
    ("copy_peer", CallKind::Copy, [5.0; 2], |m| m.stream.copy_peer(&m.other, &mut m.target)),
    ("a part with gaps", CallKind::Copy, [5.0, 3.0], |m| m.copy_to_a_part()),
    ("fill_bytes", CallKind::Fill, [0.0; 2], |m| m.stream.fill_bytes(&mut m.target, 0)),
    ("launch", CallKind::Launch, [4.0; 2], |m| m.stream.launch::<add_one>(LEN, (&mut m.target,))),
    ("map", CallKind::Launch, [4.0; 2], |m| m.stream.map::<climb>((&mut m.target,))),
    ("scan", CallKind::Launch, [5.0, 40.0], |m| m.stream.scan::<Sum<f32>>(&mut m.target, &m.other)),
    ("evaluate", CallKind::Launch, [6.0; 2], |m| {
        let other = &m.other;
        m.stream.evaluate(&mut m.target, expr!(other + 1.0))
    }),
    ("a reduction of evaluate", CallKind::Launch, [6.0; 2], |m| {
        let other = &m.other;
        m.stream.evaluate(&mut m.target, expr!(other.max() + 1.0))
    }),
];

/// As `add_one`.
#[kernel(map)]
fn climb(out: &mut f32) {
    *out += 1.0;
}

/// Calls that are refused for their arguments.
const REFUSED: &[(&str, Call)] = &[
    ("too much memory to upload", |m| m.stream.upload_blocking(&[2.0; LEN + 1], &mut m.target)),
    ("too little memory to upload", |m| {
        let part = m.host.slice(1..).ok_or(Error::from(Failure::msg("no part")))?;
        m.stream.upload(&part, &mut m.target)
    }),
    ("another length", |m| {
        let source = m.cx.tensor::<f32>([LEN + 1], &m.stream)?;
        m.stream.copy(&source, &mut m.target)
    }),
    ("a grid that is too small", |m| m.stream.launch::<add_one>(LEN - 1, (&mut m.target,))),
    ("a requirement", |m| {
        let source = m.cx.tensor::<f32>([LEN + 1], &m.stream)?;
        m.stream.launch::<slow_copy>(LEN, (&mut m.target, &source, 0))
    }),
    ("another shape", |m| {
        let source = m.cx.tensor::<f32>([3], &m.stream)?;
        m.stream.evaluate(&mut m.target, expr!(source + 1.0))
    }),
    ("an axis that is not there", |m| {
        let other = &m.other;
        m.stream.evaluate(&mut m.target, expr!(other.max(axis = 2)))
    }),
    ("a scan of another shape", |m| {
        let source = m.cx.tensor::<f32>([3], &m.stream)?;
        m.stream.scan::<Sum<f32>>(&mut m.target, &source)
    }),
    ("a reduction to another shape", |m| m.stream.reduce::<Sum<f32>>(&mut m.target, &m.other)),
    ("gaps between columns", |m| {
        let to = m.target.view_mut().slice(1, 0..2);
        to.map_or(Ok(()), |mut to| m.stream.fill_bytes(&mut to, 0))
    }),
    ("memory of another platform", |m| {
        let other = Platform::host().build()?;
        let pool = other.stream_pool("other", &CudaStreamPool::new())?;
        let source = other.tensor::<f32>(SHAPE, &pool.allocate("other")?)?;
        m.stream.copy(&source, &mut m.target)
    }),
];

/// The work of the operator after the call has failed.
type After = fn(&mut Memory<'_>, Result<(), Error>) -> Result<()>;

/// Drops the error of the call.
fn drops(_: &mut Memory<'_>, _: Result<(), Error>) -> Result<()> {
    Ok(())
}

/// Sends its target.
#[operator(streams(work))]
struct Calls {
    #[output]
    target: Tensor<f32>,
    call: Call,
    fails: Option<Arc<FailNth>>,
    after: After,
}

impl Compute for Calls {
    fn compute(&mut self, io: CallsIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let stream = cx.allocate_cuda_stream(io.work)?;
        let mut memory = Memory::new(stream, cx)?;
        if cx.tick() == 1 {
            if let Some(fails) = &self.fails {
                fails.fail_next();
            }
            let done = (self.call)(&mut memory);
            (self.after)(&mut memory, done)?;
        }
        io.target.set_cuda_stream(&stream).emit(memory.target)
    }
}

type Seen = Arc<Mutex<Vec<[f32; 2]>>>;

/// Downloads each tensor, and keeps its first and last element.
#[operator]
struct Downloads {
    #[input]
    tensor: &Tensor<f32>,
    seen: Seen,
}

impl Compute for Downloads {
    fn compute(&mut self, io: DownloadsIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (tensor, stream) = io.tensor.receive().receive_cuda_stream(cx)?;
        let all = cx.download(tensor, &stream)?.wait_blocking()?.to_vec();
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.push([all[0], all[LEN - 1]]);
        Ok(())
    }
}

graph! {
    struct Sends(call: Call, fails: Option<Arc<FailNth>>, after: After, seen: Seen) {
        #[when(count(TICKS))] let calls: Calls = Calls::new(call, fails, after);
        let downloads: Downloads = Downloads::new(seen);
        calls.target >> downloads.tensor;
    }
}

fn failing(platform: &Platform, kind: CallKind) -> Result<(Platform, Arc<FailNth>), Failed> {
    let fails = Arc::new(FailNth::new(platform.driver().clone(), kind, u64::MAX));
    Ok((Platform::builder().driver(fails.clone())?, fails))
}

/// The result of a run, and the data that has arrived.
type Ran = (Result<(), Error>, Vec<[f32; 2]>);

fn run(
    platform: &Platform,
    call: Call,
    fails: Option<Arc<FailNth>>,
    after: After,
) -> Result<Ran, Failed> {
    let seen = Seen::default();
    let done = Sends::new(platform, call, fails, after, seen.clone())?.run().map(drop);
    let seen = seen.lock().unwrap_or_else(PoisonError::into_inner).clone();
    Ok((done, seen))
}

/// Checks that the run failed in tick 1 with both texts, and that the memory of tick 1 has not arrived.
fn check_lost(name: &str, (done, seen): Ran, texts: &[&str]) -> Result<(), Failed> {
    let is_right = |error: &Error| matches!(error, Error::Operator { node, tick: 1, hook: "compute", .. } if node == "calls");
    let text = check_error(name, done, is_right)?;
    check_text(&text, &["memory that `calls` was to write is not written"])?;
    check_text(&text, texts)?;
    check(seen.iter().all(|it| *it == [3.0; 2]) && seen.len() < 2, || format!("{name}: {seen:?}"))
}

/// Checks that all data arrives without a failure, and that otherwise the tick fails at `emit` and says why.
fn sent(platform: &Platform) -> Result<(), Failed> {
    for &(name, kind, written, call) in FAILING {
        let (platform, fails) = failing(platform, kind)?;
        let control = run(&platform, call, None, drops)?;
        check_equal((name, control.0.is_ok()), (name, true))?;
        check_equal((name, control.1), (name, vec![[3.0; 2], written, [3.0; 2]]))?;
        let lost = run(&platform, call, Some(fails.clone()), drops)?;
        check(fails.has_failed(), || format!("{name} makes no such call"))?;
        check_lost(name, lost, &["INJECTED"])?;
    }
    Ok(())
}

fn refused(platform: &Platform) -> Result<(), Failed> {
    for &(name, call) in REFUSED {
        check_lost(name, run(platform, call, None, drops)?, &[])?;
    }
    Ok(())
}

/// Checks that every use of unwritten memory fails. If a call would write other memory from it, that memory is marked as
/// unwritten, too.
fn used(platform: &Platform) -> Result<(), Failed> {
    const USES: &[(&str, After)] = &[
        ("a launch that reads and writes", |m, _| {
            Ok(m.stream.launch::<add_one>(LEN, (&mut m.target,))?)
        }),
        ("a launch whose error is dropped", |m, _| {
            m.stream.launch::<add_one>(LEN, (&mut m.target,)).or(Ok(()))
        }),
        ("a copy", |m, _| Ok(m.stream.copy(&m.target, &mut m.other)?)),
        ("a copy whose error is dropped, and its target is sent", |m, _| {
            drop(m.stream.copy(&m.target, &mut m.other));
            std::mem::swap(&mut m.target, &mut m.other);
            Ok(())
        }),
        ("a download", |m, _| Ok(m.cx.download(&m.target, &m.stream).map(drop)?)),
        ("a raw address", |m, _| Ok(m.stream.read_raw(&m.target, |_| ())?)),
        ("a part that is overwritten", |m, _| {
            let part = m.target.slice_mut(1..);
            Ok(part.map_or(Ok(()), |mut part| m.stream.fill_bytes(&mut part, 0))?)
        }),
        ("page-locked memory that is read", |m, _| {
            drop(m.stream.download_into(&m.target, &mut m.host));
            Ok(m.host.as_slice_blocking().map(drop)?)
        }),
        ("page-locked memory that is sent on", |m, _| {
            drop(m.stream.download_into(&m.target, &mut m.host));
            drop(m.stream.upload(&m.host, &mut m.target));
            Ok(())
        }),
    ];
    let call: Call = |m| m.stream.upload(&m.host, &mut m.target);
    for &(name, after) in USES {
        let (platform, fails) = failing(platform, CallKind::Copy)?;
        check_lost(name, run(&platform, call, Some(fails), after)?, &["INJECTED"])?;
    }
    Ok(())
}

/// Checks the cases without an error: other memory is sent, the memory is written in full, or the operator vouches for
/// it.
fn handled(platform: &Platform) -> Result<(), Failed> {
    const WAYS: &[(&str, f32, After)] = &[
        ("other memory", 5.0, |m, done| {
            if done.is_err() {
                std::mem::swap(&mut m.target, &mut m.other);
            }
            Ok(())
        }),
        ("the same call again", 7.0, |m, _| Ok(m.stream.upload(&m.host, &mut m.target)?)),
        ("a fill, and then a kernel", 1.0, |m, _| {
            m.stream.fill_bytes(&mut m.target, 0)?;
            Ok(m.stream.launch::<add_one>(LEN, (&mut m.target,))?)
        }),
        ("the old content", 4.0, |m, _| {
            m.target.assume_written();
            Ok(m.stream.launch::<add_one>(LEN, (&mut m.target,))?)
        }),
        ("the same memory with another owner", 7.0, |m, _| {
            let source = m.cx.tensor::<f32>([1], &m.stream)?;
            drop(m.stream.download_into(&source, &mut m.host));
            drop(std::mem::replace(&mut m.host, m.cx.pinned(1)?));
            let small = m.cx.tensor([1], &m.stream)?;
            drop(std::mem::replace(&mut m.target, small));
            (m.host, m.target) = (m.cx.pinned(LEN)?, m.cx.tensor(SHAPE, &m.stream)?);
            m.host.as_mut_slice_blocking()?.fill(6.0);
            m.stream.launch::<fill>(LEN, (&mut m.target, 6.0))?;
            m.stream.launch::<add_one>(LEN, (&mut m.target,)).map_err(Failure::from)
        }),
        ("page-locked memory with its old content", 7.0, |m, _| {
            m.target.assume_written();
            let source = m.cx.tensor::<f32>([1], &m.stream)?;
            drop(m.stream.download_into(&source, &mut m.host));
            m.host.assume_written();
            Ok(m.stream.upload(&m.host, &mut m.target)?)
        }),
    ];
    let call: Call = |m| m.stream.upload(&m.host, &mut m.target);
    for &(name, value, after) in WAYS {
        let (platform, fails) = failing(platform, CallKind::Copy)?;
        let (done, seen) = run(&platform, call, Some(fails.clone()), after)?;
        check(done.is_ok() && fails.has_failed(), || format!("{name}: {done:?}"))?;
        check_equal((name, seen), (name, vec![[3.0; 2], [value; 2], [3.0; 2]]))?;
    }
    Ok(())
}

/// A call was to write the right half. The left half is used, and the right half is not.
fn halves(platform: &Platform) -> Result<(), Failed> {
    fn half(m: &mut Memory<'_>, is_right: bool) -> Result<(), Error> {
        let Some((mut left, mut right)) = m.target.split_at_mut(LEN / 2) else { return Ok(()) };
        let half = if is_right { &mut right } else { &mut left };
        m.stream.launch::<add_one>(LEN / 2, (half,))
    }
    fn fill_right(m: &mut Memory<'_>) -> Result<(), Error> {
        let right = m.target.slice_mut(LEN / 2..);
        right.map_or(Ok(()), |mut right| m.stream.fill_bytes(&mut right, 0))
    }
    const LOST: &[(&str, After)] = &[
        ("the half that is not written", |m, _| Ok(half(m, true)?)),
        ("a part of both halves", |m, _| {
            let part = m.target.slice_mut(1..LEN / 2 + 1);
            Ok(part.map_or(Ok(()), |mut part| m.stream.launch::<add_one>(4, (&mut part,)))?)
        }),
        ("both halves are sent", |m, _| Ok(half(m, false)?)),
    ];
    let call: Call = |m| half(m, true);
    for &(name, after) in LOST {
        let (platform, fails) = failing(platform, CallKind::Launch)?;
        check_lost(name, run(&platform, call, Some(fails), after)?, &["INJECTED"])?;
    }
    let used: After = |m, _| {
        half(m, false)?;
        Ok(fill_right(m)?)
    };
    let (with_failure, fails) = failing(platform, CallKind::Launch)?;
    let (done, seen) = run(&with_failure, call, Some(fails), used)?;
    check(done.is_ok(), || format!("{done:?}"))?;
    check_equal(seen, vec![[3.0; 2], [4.0, 0.0], [3.0; 2]])?;

    // Repeats the test with page-locked memory, which the host also reads.
    let call: Call = |m| {
        let (from, to) = (m.other.slice(LEN / 2..), m.host.slice_mut(LEN / 2..));
        let (Some(from), Some(mut to)) = (from, to) else { return Ok(()) };
        m.stream.download_into(&from, &mut to)
    };
    let used: After = |m, _| {
        let (from, to) = (m.host.slice(..LEN / 2), m.target.slice_mut(..LEN / 2));
        let (Some(from), Some(mut to)) = (from, to) else { return Ok(()) };
        m.stream.upload(&from, &mut to)?;
        if from.as_slice_blocking()? != [7.0; LEN / 2] {
            return Err(Failure::msg("other data"));
        }
        match m.host.as_slice_blocking() {
            Err(Error::Unwritten { .. }) => Ok(()),
            other => Err(Failure::msg(format!("{other:?}"))),
        }
    };
    let (with_failure, fails) = failing(platform, CallKind::Copy)?;
    let (done, seen) = run(&with_failure, call, Some(fails), used)?;
    check(done.is_ok(), || format!("{done:?}"))?;
    check_equal(seen, vec![[3.0; 2], [7.0, 3.0], [3.0; 2]])
}

/// Makes a table in `start`, and drops the error. Each tick sends a copy.
#[operator(streams(work))]
struct HasTable {
    #[output]
    table: Tensor<f32>,
    kept: Option<Tensor<f32>>,
    fails: Arc<FailNth>,
}

impl Compute for HasTable {
    fn start(&mut self, streams: HasTableStreams<'_>, cx: &ExecutionContext) -> Result<()> {
        let stream = cx.allocate_cuda_stream(streams.work)?;
        let mut table = cx.tensor(SHAPE, &stream)?;
        self.fails.fail_next();
        drop(stream.upload_blocking(&[2.0; LEN], &mut table));
        self.kept = Some(table);
        Ok(())
    }

    fn compute(&mut self, io: HasTableIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let stream = cx.allocate_cuda_stream(io.work)?;
        let mut table = cx.tensor(SHAPE, &stream)?;
        if let Some(kept) = &self.kept {
            drop(stream.copy(kept, &mut table));
        }
        io.table.set_cuda_stream(&stream).emit(table)
    }
}

graph! {
    struct Tables(fails: Arc<FailNth>, seen: Seen) {
        #[when(count(TICKS))] let has_table: HasTable = HasTable::new(None, fails);
        let downloads: Downloads = Downloads::new(seen);
        has_table.table >> downloads.tensor;
    }
}

fn kept(platform: &Platform) -> Result<(), Failed> {
    let (platform, fails) = failing(platform, CallKind::Copy)?;
    let seen = Seen::default();
    let done = Tables::new(&platform, fails, seen.clone())?.run();
    let is_right = |error: &Error| matches!(error, Error::Operator { node, tick: 0, hook: "compute", .. } if node == "has_table");
    let text = check_error("a table that is not written", done, is_right)?;
    check_text(&text, &["memory that `has_table` was to write is not written", "INJECTED"])?;
    let seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
    check(seen.is_empty(), || format!("{seen:?}"))
}

/// Counts up in its own memory. The call of tick 1 fails, so the count stays as before.
#[operator(streams(work))]
struct Sums {
    #[output]
    sum: Tensor<f32>,
    kept: Option<Tensor<f32>>,
    fails: Arc<FailNth>,
    /// Whether tick 1 drops the error of the call, and also that of an `emit`.
    drops: bool,
}

impl Compute for Sums {
    fn compute(&mut self, io: SumsIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let stream = cx.allocate_cuda_stream(io.work)?;
        let kept = match self.kept.take() {
            Some(kept) => kept,
            None => {
                let mut zeros = cx.tensor(SHAPE, &stream)?;
                stream.fill_bytes(&mut zeros, 0)?;
                zeros
            }
        };
        if cx.tick() == 1 {
            self.fails.fail_next();
        }
        let kept = self.kept.insert(kept);
        let counted = stream.launch::<add_one>(LEN, (&mut *kept,));
        let mut sum = cx.tensor(SHAPE, &stream)?;
        if self.drops && cx.tick() == 1 {
            let short = cx.tensor::<f32>([1], &stream)?;
            drop(stream.copy(&short, &mut sum));
            drop(io.sum.set_cuda_stream(&stream).emit(sum));
            return Ok(());
        }
        counted?;
        stream.copy(kept, &mut sum)?;
        io.sum.set_cuda_stream(&stream).emit(sum)
    }
}

graph! {
    struct Summed(fails: Arc<FailNth>, drops: bool, seen: Seen) {
        #[when(count(TICKS))] #[on_failure(skip)] let sums: Sums = Sums::new(None, fails, drops);
        let downloads: Downloads = Downloads::new(seen);
        sums.sum >> downloads.tensor;
    }
}

/// Returns the number of ticks that fail, and the data that has arrived.
fn summed(platform: &Platform, drops: bool) -> Result<(u64, Vec<[f32; 2]>), Failed> {
    let (platform, fails) = failing(platform, CallKind::Launch)?;
    let seen = Seen::default();
    let report = Summed::new(&platform, fails, drops, seen.clone())?.run()?;
    let seen = seen.lock().unwrap_or_else(PoisonError::into_inner).clone();
    Ok((report.nodes.iter().map(|node| node.failures).sum(), seen))
}

fn returned(platform: &Platform) -> Result<(), Failed> {
    check_equal(summed(platform, false)?, (1, vec![[1.0; 2], [2.0; 2]]))
}

/// Tick 1 fails with the error of its `emit`, so the error of its launch is not reported there. Tick 2 reports it.
fn lost(platform: &Platform) -> Result<(), Failed> {
    check_equal(summed(platform, true)?, (2, vec![[1.0; 2]]))
}

/// Outside of a graph, the caller gets only the error and decides what to do.
fn outside(platform: &Platform) -> Result<(), Failed> {
    let (platform, fails) = failing(platform, CallKind::Launch)?;
    let stream = platform.stream_pool("outside", &CudaStreamPool::new())?.allocate("outside")?;
    let mut sum = platform.tensor(SHAPE, &stream)?;
    stream.fill_bytes(&mut sum, 0)?;
    fails.fail_next();
    check(stream.launch::<add_one>(LEN, (&mut sum,)).is_err(), || "it did not fail".into())?;
    stream.launch::<add_one>(LEN, (&mut sum,))?;
    check_equal(stream.download_blocking(&sum)?, vec![1.0; LEN])
}
