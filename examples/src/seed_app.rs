//! NVIDIA's CudaStreamPool example, wired by hand: two sources fill an image each, a third stream multiplies the images
//! and sums each row, and a fourth downloads the sums.

use streamflow::prelude::*;

/// `out[i] = exp(start + i * step)`.
///
/// The relative error against exact arithmetic has two parts. `step`, the product, and `i` beyond 2²⁴ are rounded, each by half
/// an ε of a value of at most 10. CUDA's `expf` errs by at most 2 ulp. The sum of the parts is at most [`EXP_TOLERANCE`].
#[kernel(unsafe cuda = "
    unsigned long long i = thread_index();
    if (i < out_len) out[i] = expf(start + step * i);
")]
pub fn exp_linspace(out: &mut [f32], start: f32, step: f32) {
    for (i, x) in out.iter_mut().enumerate() {
        *x = (start + step * i as f32).exp();
    }
}

/// `out[r] = Σ a[r, c] * b[r, c]` over the `cols` columns. The launch has one block per row.
///
/// The Rust and the CUDA body both add in 256 lanes and then pairwise, so the error of a row of `n` columns is at most `(n / 256
/// + 9) / 2` ε of `Σ |a b|`. Up to six million columns this is below [`SUM_TOLERANCE`]` · √n · ε`.
#[kernel(
    threads(256),
    requires(a.len() == b.len(), a.len() == out.len() * cols as usize),
    unsafe cuda = "
    // There are 256 lanes for any block size: a thread takes every blockDim.x-th lane.
    __shared__ float lanes[256];
    if (blockIdx.x >= out_len) return;
    unsigned long long first = (unsigned long long)blockIdx.x * cols;
    for (unsigned int lane = threadIdx.x; lane < 256; lane += blockDim.x) {
        float sum = 0.0f;
        for (unsigned long long c = lane; c < cols; c += 256) sum += a[first + c] * b[first + c];
        lanes[lane] = sum;
    }
    for (unsigned int half_way = 128; half_way > 0; half_way /= 2) {
        __syncthreads();
        for (unsigned int lane = threadIdx.x; lane < half_way; lane += blockDim.x) {
            lanes[lane] += lanes[lane + half_way];
        }
    }
    if (threadIdx.x == 0) out[blockIdx.x] = lanes[0];
"
)]
pub fn multiply_sum_rows(out: &mut [f32], a: &[f32], b: &[f32], cols: u32) {
    // Without columns every sum is 0. `chunks` needs a size of at least 1, so `cols` is 1 here.
    let cols = (cols as usize).max(1);
    out.fill(0.0);
    for ((sum, a), b) in out.iter_mut().zip(a.chunks(cols)).zip(b.chunks(cols)) {
        let mut lanes = [0.0_f32; LANES];
        for (a, b) in a.chunks(lanes.len()).zip(b.chunks(lanes.len())) {
            for ((lane, a), b) in lanes.iter_mut().zip(a).zip(b) {
                *lane += a * b;
            }
        }
        let mut half = lanes.len() / 2;
        while half > 0 {
            let (low, high) = lanes.split_at_mut(half);
            for (low, high) in low.iter_mut().zip(high) {
                *low += *high;
            }
            half /= 2;
        }
        *sum = lanes[0];
    }
}

/// The number of partial sums of a row in [`multiply_sum_rows`]. The CUDA body has the same number.
const LANES: usize = 256;

/// The maximum error of [`exp_linspace`], in ε (`f32::EPSILON`) of the exact value.
pub const EXP_TOLERANCE: f64 = 20.0;

/// The `c` in `c · √n · ε`, the maximum error of [`multiply_sum_rows`] relative to the sum of the products' magnitudes.
pub const SUM_TOLERANCE: f64 = 5.0;

/// The exponent of a source's last element, which is `exp(STOP)`.
const STOP: f32 = 10.0;

/// The step of `linspace(0, 10, elements)`.
pub(crate) fn step(elements: usize) -> f32 {
    STOP / elements.saturating_sub(1).max(1) as f32
}

/// The streams of the application.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Streams {
    /// A stream for each of the four parts, from a pool.
    Pool,
    /// The device's default stream for all parts.
    Default,
}

/// The application's pool. As in NVIDIA's example, it has room for one stream more than the application needs.
const STREAMS: CudaStreamPool = CudaStreamPool::new().max_size(5).reserved_size(1);

/// The application. Ticks are independent: the next tick may start before the download of the tick before it was read.
#[derive(Debug)]
pub struct HandWired {
    platform: Platform,
    rows: usize,
    cols: u32,
    source1: CudaStream,
    source2: CudaStream,
    combine: CudaStream,
    sink: CudaStream,
}

impl HandWired {
    /// Allocates the streams. `rows` and `cols` are at least 1.
    ///
    /// # Errors
    /// Those of the platform.
    pub fn new(
        platform: &Platform,
        rows: usize,
        cols: u32,
        streams: Streams,
    ) -> Result<Self, Error> {
        let pool = match streams {
            Streams::Pool => Some(platform.stream_pool("STREAMS", &STREAMS)?),
            Streams::Default => None,
        };
        let stream = |label| match &pool {
            Some(pool) => pool.allocate(label),
            None => platform.default_stream(device(0)),
        };
        Ok(Self {
            rows,
            cols,
            source1: stream("source1")?,
            source2: stream("source2")?,
            combine: stream("combine_and_sum")?,
            sink: stream("rx")?,
            platform: platform.clone(),
        })
    }

    /// Queues one tick, without blocking. Returns the download of its row sums.
    ///
    /// # Errors
    /// Those of the platform: out of memory, a failed launch.
    pub fn tick(&mut self) -> Result<Download<f32>, Error> {
        let a = self.source(&self.source1)?;
        let b = self.source(&self.source2)?;
        let mut sums = self.platform.tensor([self.rows], &self.combine)?;
        let grid = Grid::blocks(self.rows);
        self.combine.launch::<multiply_sum_rows>(grid, (&mut sums, &a, &b, self.cols))?;
        self.platform.download(&sums, &self.sink)
    }

    fn source(&self, stream: &CudaStream) -> Result<Tensor<f32>, Error> {
        let mut image = self.platform.tensor([self.rows, self.cols as usize], stream)?;
        let step = step(image.len());
        stream.launch::<exp_linspace>(image.len(), (&mut image, 0.0, step))?;
        Ok(image)
    }
}

/// The row sums in `f64`, from the definition of `linspace`.
pub fn reference(rows: usize, cols: u32) -> Vec<f64> {
    let last = (rows * cols as usize).saturating_sub(1).max(1);
    let source = |i: usize| (f64::from(STOP) * i as f64 / last as f64).exp();
    let cols = cols as usize;
    (0..rows).map(|r| (r * cols..(r + 1) * cols).map(|i| source(i) * source(i)).sum()).collect()
}

/// The maximum relative distance of a row sum from [`reference()`]: the errors of the two sources and of the sum.
pub fn tolerance(cols: u32) -> f64 {
    (2.0 * EXP_TOLERANCE + SUM_TOLERANCE * f64::from(cols).sqrt()) * f64::from(f32::EPSILON)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reference_of_one_element_is_one() {
        assert_eq!(reference(1, 1), [1.0]);
        assert_eq!(step(1), 10.0);
    }

    #[test]
    fn host_bodies_are_within_their_tolerance() {
        for (rows, cols) in [(1, 1), (1, 2), (3, 255), (2, 256), (5, 257), (7, 3841)] {
            let n = rows * cols as usize;
            let mut image = vec![f32::NAN; n];
            exp_linspace(&mut image, 0.0, step(n));
            let mut sums = vec![f32::NAN; rows];
            multiply_sum_rows(&mut sums, &image, &image, cols);
            for (sum, expected) in sums.iter().zip(reference(rows, cols)) {
                let off = (f64::from(*sum) - expected).abs() / expected;
                assert!(off <= tolerance(cols), "{rows}x{cols}: off by {off:e}");
            }
        }
    }

    #[test]
    fn no_columns_sum_to_zero() {
        let mut sums = [f32::NAN; 3];
        multiply_sum_rows(&mut sums, &[], &[], 0);
        assert_eq!(sums, [0.0; 3]);
    }
}
