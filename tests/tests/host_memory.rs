//! Short ways between ordinary host memory and a device: `upload`, `download` of a stream, downloads that are awaited,
//! and tables of constants.
#![allow(clippy::panic, reason = "a test is about panics")]

use std::future::{Future, IntoFuture};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

use streamflow::Table;
use streamflow::platform::DeviceId;
use streamflow::prelude::*;
use streamflow_driver::driver::{Call, CopyKind};
use streamflow_tests::kernels::{slow_copy, slow_fill};
use streamflow_tests::layers::{CallKind, DiesWatching, FailNth, NotYet};
use streamflow_tests::seen::{Seen, push_seen, take};
use streamflow_tests::setup::{recorded, stream};
use streamflow_tests::stereo::Camera;
use streamflow_tests::{Failed, Suite, check, check_equal, check_error, check_text};

pub(crate) fn suite() -> Suite {
    Suite::new()
        .both("an_upload_has_its_values_on_every_stream", uploads)
        .both("an_upload_of_nothing_is_empty", empty)
        .ordered("a_download_of_a_stream_comes_after_the_writes", download)
        .both("a_stream_downloads_after_its_platform_is_dropped", without_platform)
        .both("a_download_of_foreign_memory_is_an_error", foreign)
        .ordered("an_awaited_download_has_the_written_values", awaited)
        .both("a_waker_that_panics_keeps_no_other_task_asleep", panicking_waker)
        .both("a_driver_that_panics_keeps_no_task_asleep", panicking_driver)
        .both("a_task_is_woken_when_its_download_is_complete", woken)
        .both("a_future_has_the_waker_of_its_last_poll_alone", last_waker)
        .both("tasks_await_several_downloads", several)
        .both("a_future_may_be_dropped_before_its_download_is_complete", dropped)
        .both("an_error_of_the_device_ends_the_wait_of_a_task", failed)
        .both("a_table_is_uploaded_once_and_read_in_each_tick", table)
        .both("a_table_of_a_wrong_shape_is_an_error_of_the_operator", wrong_shape)
        .devices("a_table_is_on_the_device_of_its_operator", 2, table_there)
}

const LEN: usize = 1003;
const SLOW: u64 = 2_000_000;

fn values() -> Vec<f32> {
    (0..LEN).map(|i| i as f32).collect()
}

fn uploads(platform: &Platform) -> Result<(), Failed> {
    let stream = stream(platform)?;
    let mut host = values();
    let tensor = platform.upload(&host)?;
    // The upload has copied the host memory, so it may be changed at once.
    host.fill(-1.0);
    let mut copy = platform.tensor([LEN], &stream)?;
    stream.launch::<slow_copy>(LEN, (&mut copy, &tensor, 0))?;
    drop(tensor);
    check_equal(stream.download(&copy)?.wait_blocking()?, &*values())?;
    let matrix = platform.upload(&[1_u8, 2, 3, 4, 5, 6])?.reshape([2, 3])?;
    let download = stream.download(&matrix)?;
    check_equal(
        (download.shape(), download.wait_blocking()?),
        (&[2, 3][..], &[1, 2, 3, 4, 5, 6][..]),
    )
}

fn empty(platform: &Platform) -> Result<(), Failed> {
    let nothing = platform.upload::<f32>(&[])?;
    check_equal(nothing.len(), 0)?;
    let download = stream(platform)?.download(&nothing)?;
    check(download.wait_blocking()?.is_empty(), || "it has elements".into())
}

/// Returns a download of a tensor that is written slowly on one stream and downloaded on another.
fn slowly_written(platform: &Platform, value: f32) -> Result<(Tensor<f32>, CudaStream)> {
    let pool = platform.stream_pool("POOL", &CudaStreamPool::new())?;
    let (writer, reader) = (pool.allocate("writer")?, pool.allocate("reader")?);
    let mut data = platform.tensor([LEN], &writer)?;
    writer.fill_bytes(&mut data, 0)?;
    writer.launch::<slow_fill>(LEN, (&mut data, value, SLOW))?;
    Ok((data, reader))
}

fn download(platform: &Platform) -> Result<bool> {
    let (data, reader) = slowly_written(platform, 3.0)?;
    let download = reader.download(&data)?;
    Ok(download.wait_blocking()? == [3.0; LEN])
}

fn without_platform(platform: &Platform) -> Result<(), Failed> {
    let (data, reader) = {
        let platform = Platform::builder().driver(platform.driver().clone())?;
        slowly_written(&platform, 4.0)?
    };
    let first = reader.download(&data)?;
    check_equal(first.wait_blocking()?, &[4.0; LEN][..])?;
    drop(first);
    let second = reader.download(&data)?;
    drop((data, reader));
    check_equal(second.wait_blocking()?, &[4.0; LEN][..])
}

fn foreign(platform: &Platform) -> Result<(), Failed> {
    let other = Platform::builder().driver(platform.driver().clone())?;
    let data = other.upload(&[1.0_f32])?;
    let is_right = |error: &Error| matches!(error, Error::ForeignPlatform { .. });
    check_error("download", stream(platform)?.download(&data), is_right).map(drop)
}

/// Wakes the thread that waits in [`block_on`], and counts.
struct Park(Thread, AtomicUsize);

impl Wake for Park {
    fn wake(self: Arc<Self>) {
        self.1.fetch_add(1, Ordering::SeqCst);
        self.0.unpark();
    }
}

/// How long a task may sleep. If nothing wakes a task, its test fails after this time instead of hanging.
const PATIENCE: Duration = Duration::from_secs(20);

/// The smallest executor: polls one task once, and again whenever the task was woken. Also returns the number of
/// wake-ups.
fn block_on<F: Future>(future: F) -> (F::Output, usize) {
    let park = Arc::new(Park(thread::current(), AtomicUsize::new(0)));
    let waker = Waker::from(park.clone());
    let mut future = pin!(future);
    let mut seen = 0;
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
            return (output, seen);
        }
        let begin = Instant::now();
        while park.1.load(Ordering::SeqCst) == seen {
            assert!(begin.elapsed() < PATIENCE, "nothing has woken the task");
            thread::park_timeout(PATIENCE);
        }
        seen = park.1.load(Ordering::SeqCst);
    }
}

fn awaited(platform: &Platform) -> Result<bool> {
    let (data, reader) = slowly_written(platform, 5.0)?;
    let (values, _) = block_on(async {
        let values = reader.download(&data)?.await?;
        Ok::<_, Error>(values)
    });
    let values = values?;
    Ok(values[..] == [5.0; LEN] && values.shape() == [LEN] && values.into_pinned().len() == LEN)
}

fn woken(platform: &Platform) -> Result<(), Failed> {
    let (recorder, platform) = recorded(platform.driver().clone())?;
    let (data, reader) = slowly_written(&platform, 6.0)?;
    let mut future = pin!(reader.download(&data)?.into_future());
    recorder.clear();
    let park = Arc::new(Park(thread::current(), AtomicUsize::new(0)));
    let waker = Waker::from(park.clone());
    let mut wakes = 0;
    let values = loop {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(values) => break values?,
            Poll::Pending => wakes += 1,
        }
        while park.1.load(Ordering::SeqCst) < wakes {
            thread::park();
        }
    };
    check_equal(&values[..], &[6.0; LEN][..])?;
    // No thread blocked in a call of the driver.
    check(!recorder.calls().iter().any(Call::blocks_host), || recorder.text())
}

/// The download is not complete while the futures live, so that each poll leaves a waker.
fn last_waker(platform: &Platform) -> Result<(), Failed> {
    let platform = Platform::builder().driver(Arc::new(NotYet::new(platform.driver().clone())))?;
    let (data, reader) = slowly_written(&platform, 6.0)?;
    let tasks = [0, 1].map(|_| Arc::new(Park(thread::current(), AtomicUsize::new(0))));
    // Two owners of each waker exist in addition to the future's: the entries of `tasks` and `wakers`.
    let owners = || tasks.each_ref().map(|task| Arc::strong_count(task) - 2);
    let wakers = tasks.clone().map(Waker::from);
    let mut first = Box::pin(reader.download(&data)?.into_future());
    let mut second = Box::pin(reader.download(&data)?.into_future());
    for _ in 0..100 {
        let poll = first.as_mut().poll(&mut Context::from_waker(&wakers[0]));
        check(poll.is_pending(), || format!("{poll:?}"))?;
        check_equal(owners(), [1, 0])?;
    }
    // The second future has a waker of its own.
    let poll = second.as_mut().poll(&mut Context::from_waker(&wakers[0]));
    check(poll.is_pending(), || format!("{poll:?}"))?;
    check_equal(owners(), [2, 0])?;
    for (task, expected) in [(1, [1, 1]), (0, [2, 0]), (1, [1, 1])] {
        let poll = first.as_mut().poll(&mut Context::from_waker(&wakers[task]));
        check(poll.is_pending(), || format!("{poll:?}"))?;
        check_equal(owners(), expected)?;
    }
    drop(second);
    check_equal(owners(), [0, 1])?;
    drop(first);
    check_equal(owners(), [0, 0])?;
    check_equal(tasks.map(|task| task.1.load(Ordering::SeqCst)), [0, 0])
}

struct Panics;

impl Wake for Panics {
    fn wake(self: Arc<Self>) {
        panic!("a waker");
    }
}

/// A panic in a waker must not keep another task asleep.
fn panicking_waker(platform: &Platform) -> Result<(), Failed> {
    for value in [1.0, 2.0] {
        let (data, reader) = slowly_written(platform, value)?;
        let mut future = pin!(reader.download(&data)?.into_future());
        let waker = Waker::from(Arc::new(Panics));
        // The work is slow: with the data there at once, this poll would register no waker.
        let _pending = future.as_mut().poll(&mut Context::from_waker(&waker));
        let (values, _) = block_on(reader.download(&data)?.into_future());
        check_equal(&values?[..], &[value; LEN][..])?;
    }
    Ok(())
}

/// The thread that watches downloads ends with a panic. It first wakes its task, and a new thread replaces it.
fn panicking_driver(platform: &Platform) -> Result<(), Failed> {
    let driver = Arc::new(DiesWatching::new(platform.driver().clone()));
    let platform = Platform::builder().driver(driver.clone())?;
    let (data, reader) = slowly_written(&platform, 7.0)?;
    let (values, wakes) = block_on(reader.download(&data)?.into_future());
    check_equal(&values?[..], &[7.0; LEN][..])?;
    check(driver.has_panicked() && wakes > 0, || "nothing was watched".into())
}

fn several(platform: &Platform) -> Result<(), Failed> {
    let data: Vec<_> =
        (0..5).map(|value| slowly_written(platform, value as f32)).collect::<Result<_>>()?;
    let downloads: Vec<_> = data
        .iter()
        .map(|(data, reader)| reader.download(data).map(IntoFuture::into_future))
        .collect::<Result<_, Error>>()?;
    // Each download is awaited on a thread of its own. The last one is queued behind the others.
    let last = downloads.len() - 1;
    let threads: Vec<_> = downloads
        .into_iter()
        .enumerate()
        .map(|(index, download)| thread::spawn(move || (index, block_on(download).0)))
        .collect();
    check_equal(last, 4)?;
    for joined in threads {
        let Ok((index, values)) = joined.join() else {
            return Err(Failed::msg("a thread panicked"));
        };
        check_equal(&values?[..], &[index as f32; LEN][..])?;
    }
    Ok(())
}

fn dropped(platform: &Platform) -> Result<(), Failed> {
    let (data, reader) = slowly_written(platform, 7.0)?;
    {
        let mut future = pin!(reader.download(&data)?.into_future());
        let poll = future.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        // The device may be done already.
        check(matches!(poll, Poll::Pending | Poll::Ready(Ok(_))), || format!("{poll:?}"))?;
    }
    let (values, _) = block_on(reader.download(&data)?.into_future());
    check_equal(&values?[..], &[7.0; LEN][..])
}

fn failed(platform: &Platform) -> Result<(), Failed> {
    let fails = Arc::new(FailNth::new(platform.driver().clone(), CallKind::QueryEvent, u64::MAX));
    let platform = Platform::builder().driver(fails.clone())?;
    let (data, reader) = slowly_written(&platform, 8.0)?;
    let download = reader.download(&data)?;
    fails.fail_next();
    let (values, _) = block_on(download.into_future());
    // If the device is done at once, nothing is queried, so nothing fails.
    match values {
        Ok(values) => check(!fails.has_failed(), || format!("{values:?}")),
        Err(error) => check_text(&error.to_string(), &["INJECTED"]),
    }
}

/// Adds a table to the frame that it receives.
#[operator]
struct AddTable {
    #[input]
    frame: &Tensor<u8>,
    table: Table<f32>,
    seen: Seen<Vec<f32>>,
}

impl Compute for AddTable {
    fn compute(&mut self, io: AddTableIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (frame, stream) = io.frame.receive().receive_cuda_stream(cx)?;
        let table = self.table.on(cx)?;
        check_equal(table.block_device(cx), cx.device())?;
        let mut copy = cx.tensor(table.shape(), &stream)?;
        stream.launch::<slow_copy>(copy.len(), (&mut copy, table, 0))?;
        let mut seen = stream.download(&copy)?.wait_blocking()?.to_vec();
        seen.extend(stream.download(frame)?.wait_blocking()?.iter().map(|&byte| f32::from(byte)));
        push_seen(&self.seen, seen);
        Ok(())
    }
}

/// Where a tensor is.
trait BlockDevice {
    fn block_device(&self, cx: &ExecutionContext) -> DeviceId;
}

impl BlockDevice for Tensor<f32> {
    fn block_device(&self, _: &ExecutionContext) -> DeviceId {
        let description = streamflow::message::Description::of(self);
        description.parts()[0].device.unwrap_or(device(99))
    }
}

graph! {
    #[derive(Debug)]
    struct WithTable(gpu: u32, table: Table<f32>, seen: Seen<Vec<f32>>) {
        let STREAMS = CudaStreamPool::new().device(device(gpu));
        #[streams(STREAMS)] #[when(count(3))]
        let camera: Camera = Camera::new(1, 1);
        #[streams(STREAMS)]
        let add: AddTable = AddTable::new(table, seen);
        camera.frame >> add.frame;
    }
}

fn run_with_table(on: &Platform, gpu: u32) -> Result<(), Failed> {
    let (recorder, platform) = recorded(on.driver().clone())?;
    let seen = Seen::default();
    let table = Table::new([0.5, 1.5]).reshape([2, 1]);
    let mut graph = WithTable::new(&platform, gpu, table, seen.clone())?;
    for _ in 0..2 {
        graph.run()?;
        let expected: Vec<_> = (1..4).map(|tick| vec![0.5, 1.5, tick as f32]).collect();
        check_equal(take(&seen), expected)?;
    }
    let uploads =
        recorder.count(|call| matches!(call, Call::Copy { kind: CopyKind::PageableToDevice, .. }));
    check_equal(uploads, 1)
}

fn table(platform: &Platform) -> Result<(), Failed> {
    run_with_table(platform, 0)
}

fn table_there(platform: &Platform) -> Result<(), Failed> {
    run_with_table(platform, 1)
}

fn wrong_shape(platform: &Platform) -> Result<(), Failed> {
    let table = Table::new([0.5, 1.5]).reshape([3]);
    let run = WithTable::new(platform, 0, table, Seen::default())?.run();
    let text = check_error("run", run, |_| true)?;
    check_text(
        &text,
        &["add", "reshape: the source has shape [2], 2 elements", "[3], 3", "`reshape([2])`"],
    )
}
