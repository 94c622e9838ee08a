//! The type `CheckedDownload`: a copy of a checked result to the host.

use super::Factor;
use super::outcome::{self, Origin};
use crate::error::Result;
use streamflow::Download;
use streamflow::HostData;
use streamflow::Message;

/// A copy of a [`Checked`](super::Checked) result to the host. The elements can be read only when the copy is complete, and only
/// if the check has not failed.
///
/// As a message, the download is host data. With `#[when(host_done(port))]`, its consumer runs when the copy is complete.
#[derive(Debug, Message)]
#[message(unlisted)]
#[must_use = "a download that is not read has no effect"]
pub struct CheckedDownload<T: Factor> {
    values: Download<T>,
    statuses: Download<i32>,
    origin: HostData<Origin>,
}

impl<T: Factor> CheckedDownload<T> {
    pub(super) fn new(values: Download<T>, statuses: Download<i32>, origin: Origin) -> Self {
        Self { values, statuses, origin: HostData(origin) }
    }

    /// Returns the shape of the downloaded memory.
    pub fn shape(&self) -> &[usize] {
        self.values.shape()
    }

    /// Returns the elements, or `None` if the copy is not complete yet. Does not block.
    ///
    /// # Errors
    /// [`Error::Unsolvable`](crate::Error::Unsolvable), with the row, or with the index of a NaN; as for
    /// [`Download::try_get`].
    #[track_caller]
    pub fn try_get(&self) -> Result<Option<&[T]>> {
        let Some(statuses) = self.statuses.try_get()? else { return Ok(None) };
        outcome::check(self.origin.0, statuses)?;
        let values = self.values.try_get()?;
        values.map(|values| self.numbers(values)).transpose()
    }

    /// Blocks until the copy is complete, and returns the elements.
    ///
    /// # Errors
    /// The errors of [`try_get`](Self::try_get).
    #[track_caller]
    pub fn wait_blocking(&self) -> Result<&[T]> {
        outcome::check(self.origin.0, self.statuses.wait_blocking()?)?;
        self.numbers(self.values.wait_blocking()?)
    }

    fn numbers<'a>(&self, values: &'a [T]) -> Result<&'a [T]> {
        outcome::check_numbers(self.origin.0, values)?;
        Ok(values)
    }
}
