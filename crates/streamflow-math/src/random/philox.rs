//! The generator `Philox`: a seed, an offset, and the count of the numbers that were drawn.

use std::fmt;
use std::marker::PhantomData;

use super::kernels::random_u32;
use super::real::Real;
use super::real::sealed::Start;
use super::words::ROUND;
use crate::error::Result;
use streamflow::CudaStream;
use streamflow::Grid;
use streamflow::library::Call;
use streamflow::memory::DeviceSlice;

/// A generator of random numbers, Philox4x32-10, in the order of cuRAND: of `f64`, or of `f32` and `u32`.
///
/// The generator is plain data, and its calls only queue kernels. A call that succeeds moves the generator on, as a call of
/// cuRAND does: two calls for 5 numbers give the same numbers as one call for 10. A call that fails does not move the generator.
/// A clone gives the same numbers again.
///
/// Give each operator a generator with a seed of its own. A generator has one type of numbers, since an `f64` takes twice the
/// bits. A generator of cuRAND can give `f32` and `f64`, and may then use the same bits twice.
///
/// ```compile_fail,E0308
/// # use streamflow_math::random::Philox;
/// # use streamflow::prelude::*;
/// fn noise(stream: &CudaStream, x: &mut Tensor<f32>, y: &mut Tensor<f64>) -> Result<()> {
///     let mut random = Philox::new(42);
///     random.uniform(stream, x)?;
///     Ok(random.uniform(stream, y)?)
/// }
/// ```
pub struct Philox<T = f32> {
    seed: u64,
    offset: u64,
    drawn: u64,
    of: PhantomData<fn() -> T>,
}

// Only the methods that draw numbers require `T: Real`, so rustc reports another type only once.
impl<T> Philox<T> {
    /// Returns the generator with this seed, at offset 0.
    pub fn new(seed: u64) -> Self {
        Self { seed, offset: 0, drawn: 0, of: PhantomData }
    }

    /// Returns a generator with the same seed that begins at another offset, counted in 32-bit words, as
    /// `curandSetGeneratorOffset` does.
    #[must_use = "it returns the generator at the offset"]
    pub fn at(self, offset: u64) -> Self {
        Self { offset, drawn: 0, ..self }
    }

    /// Returns the generator as if `numbers` more numbers had been drawn. So each tick can have its own numbers, whatever the
    /// order of the ticks: `Philox::new(seed).skip(cx.tick() * len)`.
    #[must_use = "it returns the generator after these numbers"]
    pub fn skip(self, numbers: u64) -> Self {
        Self { drawn: self.drawn.wrapping_add(numbers), ..self }
    }

    /// Returns the count of the numbers that were drawn since the generator's offset. [`skip`](Self::skip) takes this count:
    /// `Philox::new(seed).skip(drawn)` continues where this generator is.
    pub fn drawn(&self) -> u64 {
        self.drawn
    }

    /// Queues a kernel that fills memory with uniformly distributed numbers above 0, up to and including 1:
    /// `curandGenerateUniform` and `curandGenerateUniformDouble`.
    ///
    /// # Errors
    /// Memory of another device or platform; the driver's error.
    #[track_caller]
    pub fn uniform(&mut self, stream: &CudaStream, out: &mut DeviceSlice<T>) -> Result<()>
    where
        T: Real,
    {
        let len = out.len();
        Call::overwrites(out);
        let done = T::uniform(stream, out, self.start(len));
        Call::written(done, out)?;
        self.advance(len);
        Ok(())
    }

    /// Queues a kernel that fills memory with normally distributed numbers of this mean and standard deviation:
    /// `curandGenerateNormal` and `curandGenerateNormalDouble`. The length may be odd.
    ///
    /// # Errors
    /// [`Error::KernelRequirement`](streamflow::Error::KernelRequirement) if a number is infinite or NaN, or the deviation
    /// negative; memory of another device or platform; the driver's error.
    #[track_caller]
    pub fn normal(
        &mut self,
        stream: &CudaStream,
        out: &mut DeviceSlice<T>,
        mean: T,
        deviation: T,
    ) -> Result<()>
    where
        T: Real,
    {
        let len = out.len();
        Call::overwrites(out);
        let done = T::normal(stream, out, self.start(len), (mean, deviation));
        Call::written(done, out)?;
        self.advance(len);
        Ok(())
    }

    /// Returns a launch with a thread for each group of up to four values.
    ///
    /// cuRAND has a state for each sequence. To begin at an offset within a round, cuRAND draws the words of the sequences before
    /// the offset in that round, so each of these sequences uses one counter. The sequences after the offset give their first
    /// four values to the caller. Four `f64` use two counters, so from then on these sequences are one counter ahead of the
    /// sequences before the offset.
    fn start(&self, len: usize) -> Start
    where
        T: Real,
    {
        let (round, begin) = (self.offset / ROUND, self.offset % ROUND);
        // The sum does not overflow, since its two terms are below `ROUND`.
        let place = begin + self.drawn % ROUND;
        let rounds = self.drawn / ROUND + place / ROUND;
        let place = (place % ROUND) as u32;
        let groups = match len {
            0 => 0,
            len => (place as usize % 4 + len).div_ceil(4),
        };
        Start {
            grid: Grid::elements(groups),
            seed: self.seed,
            counter: round.wrapping_add(rounds.wrapping_mul(T::COUNTERS)),
            place,
            behind: (begin / 4) as u32,
        }
    }

    fn advance(&mut self, len: usize) {
        self.drawn = self.drawn.wrapping_add(len as u64);
    }
}

impl Philox {
    /// Queues a kernel that fills memory with random bits: `curandGenerate`.
    ///
    /// # Errors
    /// Memory of another device or platform; the driver's error.
    #[track_caller]
    pub fn fill_u32(&mut self, stream: &CudaStream, out: &mut DeviceSlice<u32>) -> Result<()> {
        let len = out.len();
        let Start { grid, seed, counter, place, .. } = self.start(len);
        Call::overwrites(out);
        let done = stream.launch::<random_u32>(grid, (&mut *out, seed, counter, place));
        Call::written(done, out)?;
        self.advance(len);
        Ok(())
    }
}

impl<T> Clone for Philox<T> {
    fn clone(&self) -> Self {
        Self { ..*self }
    }
}

impl<T: Real> fmt::Debug for Philox<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = f.debug_struct("Philox");
        text.field("of", &T::DTYPE).field("seed", &self.seed);
        text.field("offset", &self.offset).field("drawn", &self.drawn).finish()
    }
}
