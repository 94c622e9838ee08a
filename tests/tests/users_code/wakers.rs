//! Wakers that await other downloads of the same platform, when they are dropped and when they are woken.

use std::future::IntoFuture;
use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};

use futures_core::Stream;
use futures_sink::Sink;
use streamflow::Download;
use streamflow::operator::Condition;
use streamflow::operators::futures::{FromSink, IntoStream};
use streamflow::prelude::*;
use streamflow::schedule::RunHandle;
use streamflow::testing::yield_now;
use streamflow::time::Timestamp;
use streamflow_tests::kernels::fill;
use streamflow_tests::layers::NotYet;
use streamflow_tests::setup::stream;
use streamflow_tests::wakers::{Part, calling};
use streamflow_tests::{Failed, check, check_equal};

static CALLS: AtomicUsize = AtomicUsize::new(0);

/// A waker that polls another download of the platform when it is woken, and when it is dropped.
struct Polls(Mutex<Option<<Download<f32> as IntoFuture>::IntoFuture>>);

impl Polls {
    fn waker(download: Download<f32>) -> Waker {
        Waker::from(Arc::new(Self(Mutex::new(Some(download.into_future())))))
    }

    fn poll(&self) {
        let future = self.0.lock().ok().and_then(|mut future| future.take());
        if let Some(future) = future {
            let mut future = pin!(future);
            let _any = future.as_mut().poll(&mut Context::from_waker(Waker::noop()));
            CALLS.fetch_add(1, Ordering::SeqCst);
        }
    }
}

impl Wake for Polls {
    fn wake(self: Arc<Self>) {
        self.poll();
    }
}

impl Drop for Polls {
    fn drop(&mut self) {
        self.poll();
    }
}

fn filled(platform: &Platform) -> Result<(Buffer<f32>, CudaStream)> {
    let stream = stream(platform)?;
    let mut data = platform.buffer(4, &stream)?;
    stream.launch::<fill>(4, (&mut data, 1.0))?;
    Ok((data, stream))
}

/// Checks the two places where a waker is dropped: when another waker replaces it, and together with its future.
pub(crate) fn dropped() -> Result<(), Failed> {
    let host = Platform::host().build()?;
    let platform = Platform::builder().driver(Arc::new(NotYet::new(host.driver().clone())))?;
    let (data, stream) = filled(&platform)?;
    let download = || stream.download(&data);
    let mut future = Box::pin(download()?.into_future());
    for _ in 0..2 {
        let waker = Polls::waker(download()?);
        let poll = future.as_mut().poll(&mut Context::from_waker(&waker));
        check(poll.is_pending(), || format!("{poll:?}"))?;
    }
    let replaced = CALLS.load(Ordering::SeqCst);
    drop(future);
    let dropped = CALLS.load(Ordering::SeqCst);
    check((replaced, dropped) == (1, 2), || format!("{replaced} and {dropped} calls"))
}

pub(crate) fn woken() -> Result<(), Failed> {
    // With these seeds, work is executed late.
    for seed in 1..8 {
        CALLS.store(0, Ordering::SeqCst);
        let platform = Platform::host().seed(seed).build()?;
        let (data, stream) = filled(&platform)?;
        let mut future = Box::pin(stream.download(&data)?.into_future());
        let waker = Polls::waker(stream.download(&data)?);
        loop {
            match future.as_mut().poll(&mut Context::from_waker(&waker)) {
                Poll::Ready(values) => break drop(values?),
                Poll::Pending => yield_now(),
            }
        }
        drop(waker);
        // The waker makes the call when it is woken or dropped, on the thread that watches the download or on this one.
        while CALLS.load(Ordering::SeqCst) == 0 {
            yield_now();
        }
    }
    Ok(())
}

/// A waker that calls the library when it is woken, and when it is dropped.
struct Calls<F: FnMut() + Send>(Mutex<F>);

impl<F: FnMut() + Send + 'static> Calls<F> {
    fn waker(call: F) -> Waker {
        Waker::from(Arc::new(Self(Mutex::new(call))))
    }
}

impl<F: FnMut() + Send> Calls<F> {
    fn call(&self) {
        if let Ok(mut call) = self.0.lock() {
            call();
            CALLS.fetch_add(1, Ordering::SeqCst);
        }
    }
}

impl<F: FnMut() + Send> Wake for Calls<F> {
    fn wake(self: Arc<Self>) {
        self.call();
    }
}

impl<F: FnMut() + Send> Drop for Calls<F> {
    fn drop(&mut self) {
        self.call();
    }
}

graph! {
    struct Copies(numbers: FromSink<u64>, copies: IntoStream<u64>) {
        #[when(condition(numbers.arrived()))]
        let numbers: FromSink<u64> = numbers;
        #[when(condition(copies.has_room()))]
        let copies: IntoStream<u64> = copies;
        numbers.message >> copies.message;
    }
}

/// Checks a waker that checks the condition `has_room` of its own port when it is woken, and when it is dropped.
pub(crate) fn of_a_port() -> Result<(), Failed> {
    let ((from, mut sink), (to, mut stream)) = (FromSink::channel(1)?, IntoStream::channel(1)?);
    let mut looks = [to.has_room(), to.has_room()]
        .map(|mut room| Some(Calls::waker(move || _ = room.check(Timestamp(0)))));
    let mut graph = Copies::new(&Platform::host().build()?, from, to)?;
    for waker in &mut looks {
        let waker = waker.take().ok_or_else(|| Failed::msg("two wakers"))?;
        let next = pin!(&mut stream).poll_next(&mut Context::from_waker(&waker));
        check(next.is_pending(), || format!("{next:?}"))?;
    }
    check_equal(CALLS.load(Ordering::SeqCst), 1)?;
    pin!(&mut sink).start_send(1)?;
    graph.tick()?;
    // The waker was woken, and was dropped.
    check_equal(CALLS.load(Ordering::SeqCst), 3)
}

/// Checks a task that looks at its port when its waker is cloned, woken and dropped. A message comes while the
/// waker is cloned, so the clone is not needed.
pub(crate) fn of_a_clone() -> Result<(), Failed> {
    let ((from, mut sink), (to, mut stream)) = (FromSink::channel(1)?, IntoStream::channel(1)?);
    let room = Mutex::new(to.has_room());
    let graph = Mutex::new(Copies::new(&Platform::host().build()?, from, to)?);
    let parts = Arc::new(Mutex::new(Vec::new()));
    let seen = parts.clone();
    let waker = calling(move |part| {
        if let (Ok(mut room), Ok(mut graph), Ok(mut seen)) =
            (room.lock(), graph.lock(), seen.lock())
        {
            let _any = room.check(Timestamp(0));
            if part == Part::Clone {
                let _ticked = graph.tick();
            }
            seen.push(part);
        }
    });
    pin!(&mut sink).start_send(1)?;
    let next = pin!(&mut stream).poll_next(&mut Context::from_waker(&waker));
    check(matches!(next, Poll::Ready(Some(Ok(1)))), || format!("{next:?}"))?;
    let parts = parts.lock().map_err(|_| Failed::msg("a waker panicked"))?;
    check_equal(&**parts, &[Part::Clone, Part::Drop][..])
}

/// Checks an executor that polls within the call of `wake`.
pub(crate) fn of_a_poll() -> Result<(), Failed> {
    let ((from, mut sink), (to, stream)) = (FromSink::channel(1)?, IntoStream::channel(1)?);
    let mut graph = Copies::new(&Platform::host().build()?, from, to)?;
    let stream = Arc::new(Mutex::new(stream));
    let (polled, numbers) = (stream.clone(), Arc::new(Mutex::new(Vec::new())));
    let seen = numbers.clone();
    let waker = calling(move |part| {
        if part == Part::Wake
            && let (Ok(mut stream), Ok(mut seen)) = (polled.lock(), seen.lock())
            && let Poll::Ready(Some(Ok(number))) =
                pin!(&mut *stream).poll_next(&mut Context::from_waker(Waker::noop()))
        {
            seen.push(number);
        }
    });
    for number in [5, 6] {
        let mut stream = stream.lock().map_err(|_| Failed::msg("a waker panicked"))?;
        let next = pin!(&mut *stream).poll_next(&mut Context::from_waker(&waker));
        check(next.is_pending(), || format!("{next:?}"))?;
        drop(stream);
        pin!(&mut sink).start_send(number)?;
        graph.tick()?;
    }
    let numbers = numbers.lock().map_err(|_| Failed::msg("a waker panicked"))?;
    check_equal(&**numbers, &[5, 6][..])
}

/// Checks an executor that polls within the call of `wake`, and drops the future when it is ready. The run is
/// leaked, so that its future may be in a waker.
pub(crate) fn of_an_end() -> Result<(), Failed> {
    let ((from, sink), (to, _stream)) = (FromSink::channel(1)?, IntoStream::channel(1)?);
    let running = Box::leak(Box::new(Copies::new(&Platform::host().build()?, from, to)?.spawn()?));
    let task = Arc::new(Mutex::new(Some(running.ended())));
    let (polled, (ends, ended)) = (task.clone(), channel());
    let waker = calling(move |part| {
        if part == Part::Wake
            && let Ok(mut task) = polled.lock()
            && let Some(mut future) = task.take()
        {
            let end = pin!(&mut future).poll(&mut Context::from_waker(Waker::noop()));
            drop(future);
            let _is_heard = ends.send(end);
        }
    });
    let mut slot = task.lock().map_err(|_| Failed::msg("a waker panicked"))?;
    let future = slot.as_mut().ok_or_else(|| Failed::msg("it was not woken"))?;
    let end = pin!(future).poll(&mut Context::from_waker(&waker));
    check(end.is_pending(), || format!("{end:?}"))?;
    drop((slot, sink));
    check(ended.recv()?.is_ready(), || "it was woken before the end".into())
}

/// Checks a waker that reads the state of its run by a handle, when it is woken and when it is dropped.
pub(crate) fn of_a_run() -> Result<(), Failed> {
    let ((from, sink), (to, _stream)) = (FromSink::channel(1)?, IntoStream::channel(1)?);
    let mut running = Copies::new(&Platform::host().build()?, from, to)?.spawn()?;
    let looks = |handle: RunHandle| Calls::waker(move || _ = (handle.status(), handle.is_over()));
    let (first, second) = (looks(running.handle()), looks(running.handle()));
    {
        let mut ended = pin!(running.ended());
        for waker in [first, second] {
            let end = ended.as_mut().poll(&mut Context::from_waker(&waker));
            check(end.is_pending(), || format!("{end:?}"))?;
        }
        check_equal(CALLS.load(Ordering::SeqCst), 1)?;
        drop(sink);
        while ended.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending() {
            yield_now();
        }
    }
    running.join()?;
    // The waker was dropped, and may have been woken before.
    check(matches!(CALLS.load(Ordering::SeqCst), 2 | 3), || "it was not dropped".into())
}
