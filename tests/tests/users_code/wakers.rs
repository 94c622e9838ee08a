//! Wakers that await other downloads of the same platform, where they are dropped and where they wake.

use std::future::IntoFuture;
use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};

use streamflow::Download;
use streamflow::prelude::*;
use streamflow::testing::yield_now;
use streamflow_tests::kernels::fill;
use streamflow_tests::layers::NotYet;
use streamflow_tests::setup::stream;
use streamflow_tests::{Failed, check};

static CALLS: AtomicUsize = AtomicUsize::new(0);

/// Polls another download of the platform when it wakes, and when it is dropped.
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

/// A waker is dropped where another one takes its place, and with its future.
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
    // Work is executed late.
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
        // By its wake or by its drop, on the thread that watches or on this one.
        while CALLS.load(Ordering::SeqCst) == 0 {
            yield_now();
        }
    }
    Ok(())
}
