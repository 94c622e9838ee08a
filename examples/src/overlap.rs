//! Uploads, computes and downloads an image in chunks. On one stream the chunks run one after the other. On several
//! streams, copies and kernels run at the same time.

use std::ops::Range;
use std::time::Duration;

use streamflow::memory::Pinned;
use streamflow::prelude::*;

/// The maximum number of streams: enough for a copy in each direction and a kernel at the same time.
pub const STREAMS: usize = 4;

/// The number of steps that the kernel makes for each value.
const ROUNDS: u32 = 64;

/// The maximum error of a value, relative to the reference: half a unit in the last place in each round.
pub const TOLERANCE: f64 = 0.5 * ROUNDS as f64 * f32::EPSILON as f64;

/// Replaces each element of `data` by `sqrt(data * data + 1)`, `rounds` times.
#[kernel(map)]
pub fn climb(data: &mut f32, rounds: u32) {
    for _ in 0..rounds {
        *data = (*data * *data + 1.0).sqrt();
    }
}

/// The input value at an index, between 0 and 1.
fn input(index: usize) -> f32 {
    (index % 1009) as f32 / 1009.0
}

/// The exact result at an index, without intermediate rounding.
pub fn reference(index: usize) -> f64 {
    let x = f64::from(input(index));
    (x * x + f64::from(ROUNDS)).sqrt()
}

/// A chunk of the image, on the host and on the device.
#[derive(Debug)]
struct Chunk {
    first: usize,
    source: Pinned<f32>,
    result: Pinned<f32>,
    data: Buffer<f32>,
}

/// The image in chunks, which are queued on streams of a pool.
#[derive(Debug)]
pub struct Overlap {
    chunks: Vec<Chunk>,
    streams: Vec<CudaStream>,
}

/// The error for a value that differs from the reference.
#[derive(Debug, thiserror::Error)]
#[error("value {index} is {found}, but the reference is {expected}")]
pub struct Wrong {
    /// The index of the value.
    pub index: usize,
    /// The computed value.
    pub found: f32,
    /// The value of the reference.
    pub expected: f64,
}

impl Overlap {
    /// Creates an image of `rows` times `cols` values in `chunks` chunks of whole rows. There are at most as many chunks as rows.
    ///
    /// # Errors
    /// Those of the platform.
    pub fn new(
        platform: &Platform,
        rows: usize,
        cols: usize,
        chunks: usize,
    ) -> Result<Self, Error> {
        let count = STREAMS.min(chunks);
        let pool = CudaStreamPool::new().max_size(count as u32);
        let pool = platform.stream_pool("OVERLAP", &pool)?;
        let streams: Vec<_> =
            (0..count).map(|_| pool.allocate("overlap")).collect::<Result<_, Error>>()?;
        let chunk = |number: usize| {
            let range = rows_of(rows, chunks, number);
            let (first, len) = (range.start * cols, range.len() * cols);
            let mut source = platform.pinned::<f32>(device(0), len)?;
            for (index, value) in (first..).zip(source.as_mut_slice_blocking()?) {
                *value = input(index);
            }
            let result = platform.pinned(device(0), len)?;
            let data = platform.buffer(len, &streams[number % count])?;
            Ok(Chunk { first, source, result, data })
        };
        let chunks = (0..chunks).map(chunk).collect::<Result<_>>()?;
        Ok(Self { chunks, streams })
    }

    /// Returns the number of streams that the chunks are distributed over.
    pub fn streams(&self) -> usize {
        self.streams.len()
    }

    /// Returns the device's time for all chunks, queued on the streams in turn.
    ///
    /// # Errors
    /// Those of the driver.
    pub fn on_several(&mut self) -> Result<Duration, Error> {
        time(&mut self.chunks, &self.streams)
    }

    /// Returns the device's time for all chunks, queued on one stream of the pool.
    ///
    /// # Errors
    /// Those of the driver.
    pub fn on_one(&mut self) -> Result<Duration, Error> {
        time(&mut self.chunks, &self.streams[..1])
    }

    /// Returns the device's time for all chunks, queued on `stream`.
    ///
    /// # Errors
    /// Those of the driver.
    pub fn on(&mut self, stream: CudaStream) -> Result<Duration, Error> {
        time(&mut self.chunks, &[stream])
    }

    /// Compares every value with the reference, and overwrites it with NaN, so that a later check can't pass with old
    /// values.
    ///
    /// # Errors
    /// [`Wrong`]; those of the driver.
    pub fn check(&mut self) -> Result<std::result::Result<(), Wrong>, Error> {
        for chunk in &mut self.chunks {
            let values = chunk.result.as_mut_slice_blocking()?;
            for (index, found) in (chunk.first..).zip(values) {
                let expected = reference(index);
                let off = (f64::from(*found) - expected).abs();
                if off.is_nan() || off > TOLERANCE * expected {
                    return Ok(Err(Wrong { index, found: *found, expected }));
                }
                *found = f32::NAN;
            }
        }
        Ok(Ok(()))
    }
}

/// Queues all chunks on the streams in turn. Returns the time from the start of the first chunk to the end of the last one.
/// `streams` must not be empty.
fn time(chunks: &mut [Chunk], streams: &[CudaStream]) -> Result<Duration, Error> {
    let (first, others) = (&streams[0], &streams[1..]);
    let start = first.record_timing()?;
    let begun = first.record()?;
    others.iter().try_for_each(|stream| stream.wait(begun))?;
    for (chunk, stream) in chunks.iter_mut().zip(streams.iter().cycle()) {
        chunk.queue(stream)?;
    }
    others.iter().try_for_each(|stream| first.wait(stream.record()?))?;
    Ok(start.elapsed_blocking(&first.record_timing()?)?.duration())
}

impl Chunk {
    /// Queues the upload, the kernel and the download of the chunk.
    fn queue(&mut self, stream: &CudaStream) -> Result<(), Error> {
        stream.upload(&self.source, &mut self.data)?;
        stream.map::<climb>((&mut self.data, ROUNDS))?;
        stream.download_into(&self.data, &mut self.result)
    }
}

/// The rows of a chunk. The first chunks have one row more if the rows can't be divided evenly.
fn rows_of(rows: usize, chunks: usize, number: usize) -> Range<usize> {
    let (each, remainder) = (rows / chunks, rows % chunks);
    let first = number * each + number.min(remainder);
    first..first + each + usize::from(number < remainder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_row_is_in_one_chunk() {
        for (rows, chunks) in [(1, 1), (7, 3), (8, 4), (2160, 7), (5, 5)] {
            let mut next = 0;
            for number in 0..chunks {
                let range = rows_of(rows, chunks, number);
                assert_eq!(range.start, next);
                assert!(!range.is_empty());
                next = range.end;
            }
            assert_eq!(next, rows);
        }
    }
}
