//! The programs of NVIDIA's page *Stream Semantics* (nvmath-python), in the page's order. The page's `# ...` about events, waits
//! and synchronisation have no counterpart here: streamflow orders the work by its data.

use std::io::{self, Write};

use streamflow::memory::Complex;
use streamflow::prelude::*;
use streamflow_math::Plan;
use streamflow_math::fft::{self, Fft, Norm};
use streamflow_math::random::Philox;

/// The rows and columns of each operand.
pub const SHAPE: [usize; 2] = [16, 12];

type Signal = Tensor<Complex<f64>>;
type FftPlan = Plan<Fft<f64>>;

/// `out[i] = re[i] + 1j * im[i]`
#[kernel(
    requires(out.len() == re.len(), out.len() == im.len()),
    unsafe cuda = "
    unsigned long long i = thread_index();
    if (i < out_len) out[i] = complex<double>(re[i], im[i]);
"
)]
pub fn join(out: &mut [Complex<f64>], re: &[f64], im: &[f64]) {
    for ((out, re), im) in out.iter_mut().zip(re).zip(im) {
        *out = Complex::new(*re, *im);
    }
}

/// `data[i] *= factor`
#[kernel(unsafe cuda = "
    unsigned long long i = thread_index();
    if (i < data_len) data[i] *= factor;
")]
pub fn scale(data: &mut [Complex<f64>], factor: f64) {
    data.iter_mut().for_each(|x| *x *= factor);
}

/// Runs each program of the page in a tick of its own, on the streams `s1` and `s2`.
#[operator(streams(s1, s2), no_new)]
pub struct Snippets {
    /// The name of the program of this tick, whose result was right.
    #[output]
    right: HostData<&'static str>,
    random: Philox<f64>,
    /// The plans are made in `start`, each for one stream.
    on_s1: Option<FftPlan>,
    on_s2: Option<FftPlan>,
}

impl Snippets {
    /// The number of programs.
    pub const COUNT: u64 = 7;

    /// Creates the operator with all programs. Their operands are made by one generator.
    #[allow(clippy::new_without_default, reason = "operators have no `Default`")]
    pub fn new() -> Self {
        Self { random: Philox::new(4), on_s1: None, on_s2: None }
    }

    /// Does the page's `cp.random.rand(…) + 1j * cp.random.rand(…)` on a stream.
    fn rand(&mut self, cx: &ExecutionContext, s: &Stream<'_>) -> Result<Signal> {
        let (mut re, mut im) = (cx.tensor(SHAPE, s)?, cx.tensor(SHAPE, s)?);
        self.random.uniform(s, &mut re)?;
        self.random.uniform(s, &mut im)?;
        let mut made = cx.tensor(SHAPE, s)?;
        s.launch::<join>(made.len(), (&mut made, &re, &im))?;
        Ok(made)
    }

    fn plans(&mut self) -> Result<(&mut FftPlan, &mut FftPlan)> {
        let plans = self.on_s1.as_mut().zip(self.on_s2.as_mut());
        plans.ok_or_else(|| Failure::msg("`start` makes the plans"))
    }

    /// Stateless calls with operands on the host. Each call blocks.
    fn stateless_on_host(cx: &ExecutionContext) -> Result<()> {
        let mut a: Vec<_> = (0..SHAPE.iter().product()).map(|i| noise(i, 1)).collect();
        let r1 = fft::forward_host_blocking(cx, &a, SHAPE)?;
        near(&r1, &spectrum(&a))?;
        a.iter_mut().for_each(|x| *x *= 3.0);
        let r2 = fft::forward_host_blocking(cx, &a, SHAPE)?;
        near(&r2, &spectrum(&a))
    }

    /// Stateless calls, with operands on the device: the second call reads, on `s2`, the result that the first one
    /// makes on `s1`.
    fn stateless(&mut self, cx: &ExecutionContext, s1: Stream<'_>, s2: Stream<'_>) -> Result<()> {
        let a = self.rand(cx, &s1)?;
        let b = fft::forward(cx, &s1, &a)?;
        let c = fft::inverse(cx, &s2, &b, Norm::ByLength)?;
        near(cx.download(&c, &s2)?.wait_blocking()?, cx.download(&a, &s1)?.wait_blocking()?)
    }

    /// An operand that was made on `s1` is changed and transformed on `s2`, and dropped before that work is complete.
    fn deallocation(
        &mut self,
        cx: &ExecutionContext,
        s1: Stream<'_>,
        s2: Stream<'_>,
    ) -> Result<()> {
        let mut a = self.rand(cx, &s1)?;
        let before = cx.download(&a, &s1)?;
        s2.launch::<scale>(a.len(), (&mut a, 2.0))?;
        let r = fft::forward(cx, &s2, &a)?;
        drop(a);
        // The new tensor may get the memory of `a`, which was dropped.
        let _next = self.rand(cx, &s1)?;
        let doubled: Vec<_> = before.wait_blocking()?.iter().map(|x| x * 2.0).collect();
        near(cx.download(&r, &s2)?.wait_blocking()?, &spectrum(&doubled))
    }

    /// Stateful calls with operands on the host: one plan transforms two operands. The uploads and downloads block.
    fn stateful_on_host(&mut self, cx: &ExecutionContext, s1: Stream<'_>) -> Result<()> {
        let (plan, _) = self.plans()?;
        for seed in [2, 3] {
            let operand: Vec<_> = (0..SHAPE.iter().product()).map(|i| noise(i, seed)).collect();
            let mut data = cx.upload(&operand)?;
            plan.forward_in_place(&s1, &mut data)?;
            near(cx.download(&data, &s1)?.wait_blocking()?, &spectrum(&operand))?;
        }
        Ok(())
    }

    /// Stateful calls with operands on the device, the second one on another stream. A plan has one stream, so there are two
    /// plans.
    fn stateful(&mut self, cx: &ExecutionContext, s1: Stream<'_>, s2: Stream<'_>) -> Result<()> {
        let (a, c) = (self.rand(cx, &s1)?, self.rand(cx, &s2)?);
        let (mut b, mut d) = (cx.tensor(SHAPE, &s1)?, cx.tensor(SHAPE, &s2)?);
        let (on_s1, on_s2) = self.plans()?;
        on_s1.forward(&s1, &a, &mut b)?;
        on_s2.forward(&s2, &c, &mut d)?;
        for (operand, result) in [(&a, &b), (&c, &d)] {
            let wanted = spectrum(cx.download(operand, &s1)?.wait_blocking()?);
            near(cx.download(result, &s2)?.wait_blocking()?, &wanted)?;
        }
        Ok(())
    }

    /// Executes a plan on another stream than that of `plan()`. That is an error, and no transform is made.
    fn other_stream(
        &mut self,
        cx: &ExecutionContext,
        s1: Stream<'_>,
        s2: Stream<'_>,
    ) -> Result<()> {
        let a = self.rand(cx, &s1)?;
        let mut b = cx.tensor(SHAPE, &s1)?;
        let (on_s1, _) = self.plans()?;
        match on_s1.forward(&s2, &a, &mut b) {
            Err(Error::OtherStream { .. }) => Ok(()),
            other => Err(Failure::msg(format!("the plan of s1 was used on s2: {other:?}"))),
        }
    }

    /// An operand made on `s1` is dropped by its only owner while the execution on `s2` may still read it.
    fn lifetime(&mut self, cx: &ExecutionContext, s1: Stream<'_>, s2: Stream<'_>) -> Result<()> {
        let operand = self.rand(cx, &s1)?;
        let kept = cx.download(&operand, &s1)?;
        let mut r = cx.tensor(SHAPE, &s2)?;
        let (_, on_s2) = self.plans()?;
        on_s2.forward(&s2, &operand, &mut r)?;
        // Stands for the page's `f.release_operand()`.
        drop(operand);
        let _next = self.rand(cx, &s1)?;
        near(cx.download(&r, &s2)?.wait_blocking()?, &spectrum(kept.wait_blocking()?))
    }
}

impl Compute for Snippets {
    fn start(&mut self, streams: SnippetsStreams<'_>, cx: &ExecutionContext) -> Result<()> {
        let (s1, s2) = (cx.allocate_cuda_stream(streams.s1)?, cx.allocate_cuda_stream(streams.s2)?);
        self.on_s1 = Some(Fft::plan(SHAPE).on(cx, &s1)?);
        self.on_s2 = Some(Fft::plan(SHAPE).on(cx, &s2)?);
        Ok(())
    }

    fn compute(&mut self, io: SnippetsIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (s1, s2) = (cx.allocate_cuda_stream(io.s1)?, cx.allocate_cuda_stream(io.s2)?);
        let name = match cx.tick() {
            0 => Self::stateless_on_host(cx).map(|()| "stateless, operands on the host"),
            1 => self.stateless(cx, s1, s2).map(|()| "stateless, operands on the device"),
            2 => self.deallocation(cx, s1, s2).map(|()| "stream-ordered deallocation"),
            3 => self.stateful_on_host(cx, s1).map(|()| "stateful, operands on the host"),
            4 => self.stateful(cx, s1, s2).map(|()| "stateful, operands on the device"),
            5 => self.other_stream(cx, s1, s2).map(|()| "another stream than the plan's"),
            _ => self.lifetime(cx, s1, s2).map(|()| "operand lifetime"),
        };
        io.right.emit(HostData(name?))
    }
}

impl std::fmt::Debug for Snippets {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Snippets").field("random", &self.random).finish_non_exhaustive()
    }
}

/// Prints names.
#[operator]
#[derive(Debug)]
pub struct Print {
    /// The text to print.
    #[input]
    name: &HostData<&'static str>,
}

impl Compute for Print {
    fn compute(&mut self, io: PrintIo<'_>, _: &ExecutionContext) -> Result<()> {
        writeln!(io::stdout(), "right: {}", io.name.receive().into_data().0)?;
        Ok(())
    }
}

graph! {
    /// Runs the programs of the page, and prints the names of those that are right.
    #[derive(Debug)]
    pub struct StreamSemantics() {
        const STREAMS: CudaStreamPool = CudaStreamPool::new().max_size(3);

        #[streams(STREAMS)] #[when(count(Snippets::COUNT))]
        let snippets: Snippets = Snippets::new();
        let print: Print = Print::new();

        snippets.right >> print.name;
    }
}

/// Returns a number for operands that are made on the host.
fn noise(i: usize, seed: u32) -> Complex<f64> {
    let angle = f64::from(seed) * (i * i + 1) as f64;
    Complex::new(angle.sin(), angle.cos())
}

/// The transform, computed by its definition.
fn spectrum(signal: &[Complex<f64>]) -> Vec<Complex<f64>> {
    let [rows, cols] = SHAPE;
    let term = |k: usize, (at, x): (usize, &Complex<f64>)| {
        let turns = ((k / cols) * (at / cols)) as f64 / rows as f64
            + ((k % cols) * (at % cols)) as f64 / cols as f64;
        x * Complex::from_polar(1.0, -std::f64::consts::TAU * turns)
    };
    (0..signal.len()).map(|k| signal.iter().enumerate().map(|each| term(k, each)).sum()).collect()
}

fn near(found: &[Complex<f64>], wanted: &[Complex<f64>]) -> Result<()> {
    let off = found.iter().zip(wanted).map(|(a, b)| (a - b).norm()).fold(0.0, f64::max);
    if found.len() == wanted.len() && off < 1e-10 {
        return Ok(());
    }
    Err(Failure::msg(format!("{} numbers, off by up to {off:e}", found.len())))
}
