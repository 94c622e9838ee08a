//! A graph whose operators each have two plans on two streams: of transforms, products, sparse products and solvers.

use streamflow::memory::Complex;
use streamflow::prelude::*;
use streamflow_math::Plan;
use streamflow_math::fft::{InverseRealFft, Norm, RealFft};
use streamflow_math::matmul::{Bias, Blas, Matmul};
use streamflow_math::solve::{Checked, CheckedDownload, Cholesky, Lu};
use streamflow_math::sparse::{Csr, SpMv};

use crate::graph_runs::OnTick;
use crate::kernels::fill;

/// How many elements a message has.
const N: usize = 6;

/// How far a result may be from the exact value.
const NEAR: f32 = 1e-3;

/// The beginning of the error text for wrong data.
const WRONG: &str = "wrong data";

/// The two plans of an operator, made in `start`.
type Two<A, B> = Option<(Plan<A>, Plan<B>)>;

/// Returns the value of a tick's message, which differs from those of the ticks before.
fn value(tick: u64) -> f32 {
    (1 + tick % 5) as f32
}

/// Sends the value of each tick.
#[operator(streams(own))]
struct Values {
    #[output]
    x: Tensor<f32>,
}

impl Compute for Values {
    fn compute(&mut self, io: ValuesIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let stream = cx.allocate_cuda_stream(io.own)?;
        let mut x = cx.tensor([N, 1], &stream)?;
        stream.launch::<fill>(N, (&mut x, value(cx.tick())))?;
        io.x.set_cuda_stream(&stream).emit(x)
    }
}

/// Transforms on one stream, and transforms back on another stream.
#[operator(streams(other))]
struct Transforms {
    #[input]
    x: &Tensor<f32>,
    #[output]
    y: Tensor<f32>,
    plans: Two<RealFft<f32>, InverseRealFft<f32>>,
}

impl Compute for Transforms {
    fn start(&mut self, streams: TransformsStreams<'_>, cx: &ExecutionContext) -> Result<()> {
        let other = cx.allocate_cuda_stream(streams.other)?;
        let there = RealFft::plan(N).on(cx, &cx.internal_stream()?)?;
        let back = InverseRealFft::plan(N).norm(Norm::ByLength).on(cx, &other)?;
        self.plans = Some((there, back));
        Ok(())
    }

    fn compute(&mut self, io: TransformsIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (x, stream) = io.x.receive().receive_cuda_stream(cx)?;
        let other = cx.allocate_cuda_stream(io.other)?;
        let mut spectrum = cx.tensor::<Complex<f32>>([N / 2 + 1], &stream)?;
        let mut y = cx.tensor([N, 1], &other)?;
        let (there, back) = self.plans.as_mut().ok_or_else(not_started)?;
        there.forward(&stream, x, &mut spectrum)?;
        back.inverse(&other, &mut spectrum, &mut y)?;
        io.y.set_cuda_stream(&other).emit(y)
    }
}

/// Computes `2 x + 1` by a product with a bias, and adds `x` with another library handle on another stream.
#[operator(streams(other))]
struct Products {
    #[input]
    x: &Tensor<f32>,
    #[output]
    y: Tensor<f32>,
    plans: Two<Matmul<f32, Bias>, Blas<f32>>,
    operands: Option<(Tensor<f32>, Tensor<f32>)>,
}

impl Compute for Products {
    fn start(&mut self, streams: ProductsStreams<'_>, cx: &ExecutionContext) -> Result<()> {
        let other = cx.allocate_cuda_stream(streams.other)?;
        let product = Matmul::plan(N, 1, 1).bias().on(cx, &cx.internal_stream()?)?;
        self.plans = Some((product, Blas::on(cx, &other)?));
        self.operands = Some((cx.upload(&[2.0])?.reshape([1, 1])?, cx.upload(&[1.0])?));
        Ok(())
    }

    fn compute(&mut self, io: ProductsIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (x, stream) = io.x.receive().receive_cuda_stream(cx)?;
        let other = cx.allocate_cuda_stream(io.other)?;
        let mut y = cx.tensor([N, 1], &stream)?;
        let (product, blas) = self.plans.as_mut().ok_or_else(not_started)?;
        let (weight, bias) = self.operands.as_ref().ok_or_else(not_started)?;
        product.execute(&stream, x, weight, bias, &mut y)?;
        blas.axpy(&other, 1.0, x, &mut y)?;
        io.y.set_cuda_stream(&other).emit(y.reshape([N])?)
    }
}

/// Multiplies with a diagonal matrix, twice, on two streams.
#[operator(streams(other))]
struct SparseProducts {
    #[input]
    x: &Tensor<f32>,
    #[output]
    y: Tensor<f32>,
    plans: Two<SpMv<f32>, SpMv<f32>>,
    a: Option<Csr<f32>>,
}

/// Returns the elements of the diagonal.
fn diagonal() -> [f32; N] {
    std::array::from_fn(|row| (1 + row) as f32)
}

impl Compute for SparseProducts {
    fn start(&mut self, streams: SparseProductsStreams<'_>, cx: &ExecutionContext) -> Result<()> {
        let other = cx.allocate_cuda_stream(streams.other)?;
        let offsets: [i32; N + 1] = std::array::from_fn(|row| row as i32);
        let a = Csr::upload(cx, [N, N], &offsets, &offsets[..N], &diagonal())?;
        let first = SpMv::plan(&a).on(cx, &cx.internal_stream()?)?;
        let second = SpMv::plan(&a).on(cx, &other)?;
        (self.plans, self.a) = (Some((first, second)), Some(a));
        Ok(())
    }

    fn compute(&mut self, io: SparseProductsIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (x, stream) = io.x.receive().receive_cuda_stream(cx)?;
        let other = cx.allocate_cuda_stream(io.other)?;
        let (mut once, mut twice) = (cx.tensor([N], &stream)?, cx.tensor([N], &other)?);
        let (first, second) = self.plans.as_mut().ok_or_else(not_started)?;
        let a = self.a.as_ref().ok_or_else(not_started)?;
        first.execute(&stream, a, x, &mut once)?;
        second.execute(&other, a, &once, &mut twice)?;
        io.y.set_cuda_stream(&other).emit(twice)
    }
}

/// Solves two systems with the same matrix, on two streams.
#[operator(streams(other))]
struct Systems {
    #[input]
    b: &Tensor<f32>,
    #[output]
    x: CheckedDownload<f32>,
    plans: Two<Lu<f32>, Cholesky<f32>>,
    a: Option<Tensor<f32>>,
}

impl Compute for Systems {
    fn start(&mut self, streams: SystemsStreams<'_>, cx: &ExecutionContext) -> Result<()> {
        let other = cx.allocate_cuda_stream(streams.other)?;
        let lu = Lu::plan(N).on(cx, &cx.internal_stream()?)?;
        self.plans = Some((lu, Cholesky::plan(N).on(cx, &other)?));
        let mut a = [0.0; N * N];
        diagonal().iter().enumerate().for_each(|(row, value)| a[row * (N + 1)] = *value);
        self.a = Some(cx.upload(&a)?.reshape([N, N])?);
        Ok(())
    }

    fn compute(&mut self, io: SystemsIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (b, stream) = io.b.receive().receive_cuda_stream(cx)?;
        let other = cx.allocate_cuda_stream(io.other)?;
        let mut half = Checked::new(cx.tensor([N], &stream)?, cx, &stream)?;
        let mut x = Checked::new(cx.tensor([N], &other)?, cx, &other)?;
        let (lu, cholesky) = self.plans.as_mut().ok_or_else(not_started)?;
        let a = self.a.as_ref().ok_or_else(not_started)?;
        lu.solve(&stream, a, b, &mut half)?;
        cholesky.solve(&other, a, half.on_device(), &mut x)?;
        io.x.emit(x.download(&other)?)
    }
}

fn not_started() -> Failure {
    Failure::msg("`start` has not made the plans")
}

/// Compares each tick's numbers with the expected ones.
#[operator]
struct Compares {
    #[input]
    x: CheckedDownload<f32>,
    on_tick: OnTick,
}

impl Compute for Compares {
    fn compute(&mut self, io: ComparesIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let x = io.x.receive().into_data();
        let wanted = 3.0 * value(cx.tick()) + 1.0;
        let found = match x.wait_blocking() {
            // A solver's error also counts as wrong data: the solver may have read its matrix too early.
            Err(error) if error.find_cause::<streamflow_math::Error>().is_some() => {
                return Err(Failure::msg(format!("{WRONG}: {error}")));
            }
            found => found?,
        };
        if found.len() != N || !found.iter().all(|found| (found - wanted).abs() < NEAR) {
            let tick = cx.tick();
            return Err(Failure::msg(format!("{WRONG}: {found:?} in tick {tick}, not {wanted}")));
        }
        (self.on_tick)(cx.tick())
    }
}

graph! {
    /// The graph: numbers go through two plans of each library.
    struct Plans(ticks: u64, on_tick: OnTick) {
        const STREAMS: CudaStreamPool = CudaStreamPool::new();

        #[streams(STREAMS)] #[when(count(ticks))]
        let values: Values = Values::new();
        #[streams(STREAMS)]
        let transforms: Transforms = Transforms::new(None);
        #[streams(STREAMS)]
        let products: Products = Products::new(None, None);
        #[streams(STREAMS)]
        let sparse: SparseProducts = SparseProducts::new(None, None);
        #[streams(STREAMS)]
        let systems: Systems = Systems::new(None, None);
        let compares: Compares = Compares::new(on_tick);

        values.x >> transforms.x;
        transforms.y >> products.x;
        products.y >> sparse.x;
        sparse.y >> systems.b;
        systems.x >> compares.x;
    }
}

/// Runs the graph, and compares its data.
///
/// # Errors
/// Those of the graph; wrong data is one of them.
pub fn run(platform: &Platform, ticks: u64, on_tick: OnTick) -> Result<(), Error> {
    Plans::new(platform, ticks, on_tick)?.run().map(drop)
}

/// Runs the graph, and returns whether its data was right.
///
/// # Errors
/// Errors other than wrong data.
pub fn is_right(platform: &Platform, ticks: u64) -> Result<bool> {
    match run(platform, ticks, Box::new(|_| Ok(()))) {
        Ok(()) => Ok(true),
        Err(error) if error.to_string().contains(WRONG) => Ok(false),
        Err(error) => Err(error.into()),
    }
}
