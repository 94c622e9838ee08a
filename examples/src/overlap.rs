//! An image that is uploaded, worked on and downloaded in chunks: on one stream one after the other, on
//! several with copies and kernels at the same time.

use std::ops::Range;
use std::time::Duration;

use streamflow::prelude::*;

/// How many streams the chunks are spread over at most: enough for a copy each way and a kernel at a time.
pub const STREAMS: usize = 4;

/// How often the kernel works on each value.
const ROUNDS: u32 = 64;

/// How far from the reference a value may be, relative to it: half a unit in the last place in each round.
pub const TOLERANCE: f64 = 0.5 * ROUNDS as f64 * f32::EPSILON as f64;

/// `x = sqrt(x * x + 1)`, over and over.
#[kernel(unsafe cuda = "
    unsigned long long i = thread_index();
    if (i >= data_len) return;
    float x = data[i];
    for (unsigned int round = 0; round < rounds; ++round) x = sqrtf(x * x + 1.0f);
    data[i] = x;
")]
pub fn climb(data: &mut [f32], rounds: u32) {
    for x in data {
        for _ in 0..rounds {
            *x = (*x * *x + 1.0).sqrt();
        }
    }
}

/// What is uploaded, between 0 and 1.
fn input(index: usize) -> f32 {
    (index % 1009) as f32 / 1009.0
}

/// What must come out, without the roundings in between.
pub fn reference(index: usize) -> f64 {
    let x = f64::from(input(index));
    (x * x + f64::from(ROUNDS)).sqrt()
}

/// A chunk on the host and on the device.
#[derive(Debug)]
struct Chunk {
    first: usize,
    source: Pinned<f32>,
    result: Pinned<f32>,
    data: Buffer<f32>,
}

/// The image in its chunks, on streams of a pool.
#[derive(Debug)]
pub struct Overlap {
    chunks: Vec<Chunk>,
    streams: Vec<CudaStream>,
}

/// What is wrong with a result.
#[derive(Debug, thiserror::Error)]
#[error("value {index} is {found}, but the reference is {expected}")]
pub struct Wrong {
    /// Which value.
    pub index: usize,
    /// What came out.
    pub found: f32,
    /// What must come out.
    pub expected: f64,
}

impl Overlap {
    /// `rows` of `cols` values in as many chunks, each of whole rows; there are at most as many as rows.
    ///
    /// # Errors
    /// The platform's.
    pub fn new(platform: &Platform, rows: usize, cols: usize, chunks: usize) -> Result<Self> {
        let count = STREAMS.min(chunks);
        let pool = CudaStreamPool::new().max_size(count as u32);
        let pool = platform.stream_pool("OVERLAP", &pool)?;
        let streams: Vec<_> =
            (0..count).map(|_| pool.allocate("overlap")).collect::<Result<_>>()?;
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

    /// Over how many streams the chunks are spread.
    pub fn streams(&self) -> usize {
        self.streams.len()
    }

    /// How long the device takes for all chunks, each on the next of the streams.
    ///
    /// # Errors
    /// The driver's.
    pub fn on_several(&mut self) -> Result<Duration> {
        time(&mut self.chunks, &self.streams)
    }

    /// How long the device takes for all chunks on one of the streams.
    ///
    /// # Errors
    /// The driver's.
    pub fn on_one(&mut self) -> Result<Duration> {
        time(&mut self.chunks, &self.streams[..1])
    }

    /// As [`on_one`](Self::on_one), on another stream.
    ///
    /// # Errors
    /// The driver's.
    pub fn on(&mut self, stream: CudaStream) -> Result<Duration> {
        time(&mut self.chunks, &[stream])
    }

    /// Compares every value with the reference, and forgets what came out, so that the next run can't be
    /// taken for right by it.
    ///
    /// # Errors
    /// [`Wrong`]; the driver's.
    pub fn check(&mut self) -> Result<std::result::Result<(), Wrong>> {
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

/// Queues all chunks on streams, of which there is at least one, in turn. From before the first begins
/// until the last has ended.
fn time(chunks: &mut [Chunk], streams: &[CudaStream]) -> Result<Duration> {
    let (first, others) = (&streams[0], &streams[1..]);
    let start = first.record_timing()?;
    let begun = first.record()?;
    others.iter().try_for_each(|stream| stream.wait(begun))?;
    for (chunk, stream) in chunks.iter_mut().zip(streams.iter().cycle()) {
        chunk.queue(stream)?;
    }
    others.iter().try_for_each(|stream| first.wait(stream.record()?))?;
    start.elapsed_blocking(&first.record_timing()?)
}

impl Chunk {
    /// Up, climb, down.
    fn queue(&mut self, stream: &CudaStream) -> Result<()> {
        stream.upload(&self.source, &mut self.data)?;
        stream.launch::<climb>(self.data.len(), (&mut self.data, ROUNDS))?;
        stream.download_into(&self.data, &mut self.result)
    }
}

/// Which rows a chunk has: as many as the others, or one more.
fn rows_of(rows: usize, chunks: usize, number: usize) -> Range<usize> {
    let (each, more) = (rows / chunks, rows % chunks);
    let first = number * each + number.min(more);
    first..first + each + usize::from(number < more)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_have_every_row_once() {
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
