//! Device memory with its expected values. Each call queues work on the device and does the same on the host at once,
//! in program order. Downloads are compared with the host's values.
//!
//! Each printed program begins with this file.

use std::sync::{Mutex, PoisonError};

use streamflow::memory::dlpack::{Abi, Consumer};
use streamflow::memory::{After, DeviceSlice, View, ViewMut};
use streamflow::prelude::*;
use streamflow::stream::Point;

use streamflow_tests::foreign::{BYTE, Outside, fill_outside, from_outside};
use streamflow_tests::kernels::mixing;

/// The beginning of the error text for wrong data.
pub(crate) const WRONG: &str = "wrong data";

/// Clock cycles of a slow kernel on a GPU, about 100 µs. The simulator delays work by itself.
pub(crate) const SLOW: u64 = 170_000;

/// Memory that can be read.
pub(crate) trait Reads {
    fn data(&self) -> &DeviceSlice<u32>;
    /// The expected values once all work queued so far is complete.
    fn value(&self) -> &[u32];
}

/// Memory that can be written.
pub(crate) trait Writes: Reads {
    fn parts(&mut self) -> (&mut DeviceSlice<u32>, &mut [u32]);
}

/// A tensor that one thread owns.
pub(crate) struct Owned {
    data: Tensor<u32>,
    value: Vec<u32>,
}

/// A part of a buffer. Other threads may have the buffer's other parts.
pub(crate) struct Part<'a> {
    data: ViewMut<'a, u32>,
    value: &'a mut [u32],
}

/// A part that can only be read.
pub(crate) struct Section<'a> {
    data: View<'a, u32>,
    value: &'a [u32],
}

macro_rules! reads {
    ($($ty:ty),*) => {$(
        impl Reads for $ty {
            fn data(&self) -> &DeviceSlice<u32> {
                &self.data
            }

            fn value(&self) -> &[u32] {
                &self.value
            }
        }
    )*};
}
reads!(Owned, Part<'_>, Section<'_>);

impl Writes for Owned {
    fn parts(&mut self) -> (&mut DeviceSlice<u32>, &mut [u32]) {
        (&mut self.data, &mut self.value)
    }
}

impl Writes for Part<'_> {
    fn parts(&mut self) -> (&mut DeviceSlice<u32>, &mut [u32]) {
        (&mut self.data, self.value)
    }
}

fn outside_of_buffer() -> Failure {
    Failure::msg("a part is outside of its buffer")
}

/// Splits memory into two parts.
pub(crate) fn split(whole: &mut dyn Writes, at: usize) -> Result<(Part<'_>, Part<'_>)> {
    let (data, value) = whole.parts();
    let (left, right) = data.split_at_mut(at).ok_or_else(outside_of_buffer)?;
    let (first, second) = value.split_at_mut(at);
    Ok((Part { data: left, value: first }, Part { data: right, value: second }))
}

/// The elements from `first` to the end.
pub(crate) fn section(whole: &dyn Reads, first: usize) -> Result<Section<'_>> {
    let data = whole.data().slice(first..).ok_or_else(outside_of_buffer)?;
    Ok(Section { data, value: &whole.value()[first..] })
}

pub(crate) fn cycles(slow: bool) -> u64 {
    if slow { SLOW } else { 0 }
}

/// Allocates a buffer and writes it on the stream of its allocation.
pub(crate) fn new(
    platform: &Platform,
    s: &CudaStream,
    len: usize,
    tag: u32,
    slow: bool,
) -> Result<Owned> {
    let mut owned = Owned { data: platform.tensor([len], s)?, value: vec![0; len] };
    make(s, &mut owned, tag, slow)?;
    Ok(owned)
}

pub(crate) fn make(s: &CudaStream, out: &mut dyn Writes, tag: u32, slow: bool) -> Result<()> {
    let (data, value) = out.parts();
    mixing::make(value, tag, 0);
    Ok(s.launch::<mixing::make>(data.len(), (data, tag, cycles(slow)))?)
}

pub(crate) fn map(
    s: &CudaStream,
    out: &mut dyn Writes,
    a: &dyn Reads,
    tag: u32,
    slow: bool,
) -> Result<()> {
    let (data, value) = out.parts();
    mixing::map(value, a.value(), tag, 0);
    Ok(s.launch::<mixing::map>(data.len(), (data, a.data(), tag, cycles(slow)))?)
}

pub(crate) fn join(
    s: &CudaStream,
    out: &mut dyn Writes,
    (a, b): (&dyn Reads, &dyn Reads),
    tag: u32,
    slow: bool,
) -> Result<()> {
    let (data, value) = out.parts();
    mixing::join(value, a.value(), b.value(), tag, 0);
    Ok(s.launch::<mixing::join>(data.len(), (data, a.data(), b.data(), tag, cycles(slow)))?)
}

pub(crate) fn change(
    s: &CudaStream,
    out: &mut dyn Writes,
    a: &dyn Reads,
    tag: u32,
    slow: bool,
) -> Result<()> {
    let (data, value) = out.parts();
    mixing::change(value, a.value(), tag, 0);
    Ok(s.launch::<mixing::change>(data.len(), (data, a.data(), tag, cycles(slow)))?)
}

pub(crate) fn both(
    s: &CudaStream,
    a: &mut dyn Writes,
    b: &mut dyn Writes,
    tag: u32,
    slow: bool,
) -> Result<()> {
    let ((a, first), (b, second)) = (a.parts(), b.parts());
    mixing::both(first, second, tag, 0);
    Ok(s.launch::<mixing::both>(a.len().max(b.len()), (a, b, tag, cycles(slow)))?)
}

/// Copies as many elements as both have.
pub(crate) fn copy(s: &CudaStream, to: &mut dyn Writes, from: &dyn Reads) -> Result<()> {
    let (data, value) = to.parts();
    let len = data.len().min(from.data().len());
    value[..len].copy_from_slice(&from.value()[..len]);
    let source = from.data().slice(..len).ok_or_else(outside_of_buffer)?;
    let mut target = data.slice_mut(..len).ok_or_else(outside_of_buffer)?;
    Ok(s.copy(&source, &mut target)?)
}

/// Fills the memory with one byte.
pub(crate) fn fill(s: &CudaStream, out: &mut dyn Writes, tag: u32) -> Result<()> {
    let byte = tag as u8 | 1;
    let (data, value) = out.parts();
    value.fill(u32::from_ne_bytes([byte; 4]));
    Ok(s.fill_bytes(data, byte)?)
}

/// Hands the tensor to other code that writes it on `s`, and takes it back.
pub(crate) fn lend(platform: &Platform, s: &CudaStream, mut owned: Owned) -> Result<Owned> {
    let lent = owned.data.into_dlpack(Abi::Versioned, Consumer::QueuesOn(s))?;
    fill_outside(&**platform.driver(), s.raw(), &lent, BYTE)?;
    owned.value.fill(u32::from_ne_bytes([BYTE; 4]));
    let back = platform.import_dlpack::<u32>(from_outside(lent)?, After::QueuedOn(s))?;
    Ok(Owned { data: back.into_writable()?, value: owned.value })
}

/// Adopts memory of other code. The other code has written the memory on `s`, and poisons it when it gets it back.
pub(crate) fn adopt(platform: &Platform, s: &CudaStream, len: usize) -> Result<Owned> {
    let mut memory = Outside::new(platform, len)?;
    memory.write(s.raw())?;
    let data = memory.adopt_as(platform, After::QueuedOn(s))?;
    Ok(Owned { data, value: vec![u32::from_ne_bytes([BYTE; 4]); len] })
}

/// Uploads from pinned memory, and drops the pinned memory at once.
pub(crate) fn upload(
    platform: &Platform,
    s: &CudaStream,
    out: &mut dyn Writes,
    tag: u32,
) -> Result<()> {
    let (data, value) = out.parts();
    mixing::make(value, tag, 0);
    let mut pinned = platform.pinned(s.device(), value.len())?;
    pinned.as_mut_slice_blocking()?.copy_from_slice(value);
    Ok(s.upload(&pinned, data)?)
}

/// Uploads from pageable memory.
pub(crate) fn upload_blocking(s: &CudaStream, out: &mut dyn Writes, tag: u32) -> Result<()> {
    let (data, value) = out.parts();
    mixing::make(value, tag, 0);
    Ok(s.upload_blocking(value, data)?)
}

fn compare(found: &[u32], expected: &[u32]) -> Result<()> {
    if found == expected {
        return Ok(());
    }
    Err(Failure::msg(format!("{WRONG}: {found:x?}, not {expected:x?}")))
}

pub(crate) fn download_blocking(s: &CudaStream, from: &dyn Reads) -> Result<()> {
    compare(&s.download_blocking(from.data())?, from.value())
}

/// A download with its expected values.
pub(crate) struct Pending {
    download: Download<u32>,
    value: Vec<u32>,
}

pub(crate) fn download(platform: &Platform, s: &CudaStream, from: &dyn Reads) -> Result<Pending> {
    let value = from.value().to_vec();
    Ok(Pending { download: platform.download(from.data(), s)?, value })
}

impl Pending {
    /// Waits for the download's data and compares it.
    pub(crate) fn wait(&self) -> Result<()> {
        compare(self.download.wait_blocking()?, &self.value)
    }

    /// Compares the data if it is complete.
    pub(crate) fn look(&self) -> Result<()> {
        self.download.try_get()?.map_or(Ok(()), |found| compare(found, &self.value))
    }
}

/// The values that threads share: points of their streams, and buffers for other threads.
#[derive(Default)]
pub(crate) struct Board {
    points: Mutex<Vec<Point>>,
    handed: Mutex<Vec<Owned>>,
}

impl Board {
    pub(crate) fn record(&self, s: &CudaStream) -> Result<()> {
        let point = s.record()?;
        self.points.lock().unwrap_or_else(PoisonError::into_inner).push(point);
        Ok(())
    }

    /// Waits for the point that was recorded `ago` points ago by any thread.
    pub(crate) fn wait(&self, s: &CudaStream, ago: usize) -> Result<()> {
        let point = {
            let points = self.points.lock().unwrap_or_else(PoisonError::into_inner);
            points.iter().rev().nth(ago).copied()
        };
        point.map_or(Ok(()), |point| Ok(s.wait(point)?))
    }

    pub(crate) fn hand(&self, owned: Option<Owned>) {
        self.handed.lock().unwrap_or_else(PoisonError::into_inner).extend(owned);
    }

    /// Takes the buffer that a thread handed over last.
    pub(crate) fn take(&self) -> Option<Owned> {
        self.handed.lock().unwrap_or_else(PoisonError::into_inner).pop()
    }
}
