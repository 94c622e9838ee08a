//! Downloads in asynchronous code: `download.await`.

use std::fmt;
use std::future::{Future, IntoFuture};
use std::ops::Deref;
use std::pin::Pin;
use std::task::{Context, Poll};

use super::{Download, Element, Pinned};
use crate::error::Result;
use crate::stream::Awaiting;

/// The elements of a complete download: the value of `download.await?`.
pub struct Downloaded<T: Element> {
    /// The download, whose copy is complete.
    download: Download<T>,
}

impl<T: Element> Downloaded<T> {
    /// The shape of the downloaded memory; one dimension for a slice.
    pub fn shape(&self) -> &[usize] {
        self.download.shape()
    }

    /// The page-locked memory with the elements.
    pub fn into_pinned(self) -> Pinned<T> {
        self.download.into_pinned()
    }
}

impl<T: Element> Deref for Downloaded<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        self.download.complete_elements()
    }
}

impl<T: Element> fmt::Debug for Downloaded<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Downloaded<{}>{:?}", T::DTYPE, self.shape())
    }
}

/// The future of a download.
struct Awaited<T: Element> {
    /// The download, and the registration of the task that awaits it. `None` after the future has completed.
    pending: Option<(Download<T>, Awaiting)>,
}

/// Asynchronous code can await a download:
///
/// ```
/// # use streamflow::prelude::*;
/// async fn first(platform: &Platform, stream: &CudaStream) -> Result<f32> {
///     let data = platform.upload(&[3.0_f32, 4.0])?;
///     let values = stream.download(&data)?.await?;
///     Ok(values[0])
/// }
/// ```
///
/// Any executor can run the future. While the future is awaited and the download is not complete, a thread of the library
/// watches the device and wakes the task that has polled the future last. The task's waker is dropped when the future
/// completes or is dropped. Dropping the future does not wait.
///
/// # Errors
/// The driver's, when the query fails; an error of earlier work may be reported here.
impl<T: Element> IntoFuture for Download<T> {
    type Output = Result<Downloaded<T>>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        let awaiting = self.awaiting();
        Box::pin(Awaited { pending: Some((self, awaiting)) })
    }
}

impl<T: Element> Future for Awaited<T> {
    type Output = Result<Downloaded<T>>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let Some((download, awaiting)) = self.pending.take() else {
            // The caller has polled a future that has already completed. The result is `Pending`, because a panic could end
            // the executor.
            return Poll::Pending;
        };
        match download.poll_complete(&awaiting, cx.waker()) {
            Ok(true) => Poll::Ready(Ok(Downloaded { download })),
            Ok(false) => {
                self.pending = Some((download, awaiting));
                Poll::Pending
            }
            Err(error) => Poll::Ready(Err(error)),
        }
    }
}

impl<T: Element> Unpin for Awaited<T> {}
