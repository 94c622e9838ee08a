//! The work that NVIDIA's page on streams (nvmath-python, *Stream Semantics*) tells its readers to order by hand,
//! without a line for it. Each program has a control without waits of streams for each other. The transform is a call
//! of a library of the tests.

use streamflow::prelude::*;
use streamflow_math::random::Philox;
use streamflow_tests::foreign::CopyLibrary;
use streamflow_tests::kernels::{add_one, slow_copy, slow_fill};
use streamflow_tests::ordered::Program;
use streamflow_tests::{Failed, Suite, check_equal};

const LEN: usize = 1003;
/// Cycles, much longer than a call: about 10 ms on a GPU.
const SLOW: u64 = 20_000_000;

/// data[i] *= factor, slowly
#[kernel(unsafe cuda = "
    long long begin = clock64();
    while (clock64() - begin < (long long)cycles) {}
    unsigned long long i = thread_index();
    if (i < data_len) data[i] *= factor;
")]
fn slow_scale(data: &mut [f32], factor: f32, cycles: u64) {
    let _ = cycles;
    data.iter_mut().for_each(|x| *x *= factor);
}

const PROGRAMS: &[(&str, Program)] = &[
    ("forgotten_event_before_a_call_on_another_stream", used_on_another_stream),
    ("forgotten_event_before_an_operand_is_dropped", dropped_operand),
    ("forgotten_event_before_the_only_owner_of_an_operand_goes", dropped_with_its_owner),
    ("forgotten_event_before_an_operand_is_changed_in_place", changed_in_place),
    ("forgotten_event_between_two_executions_with_one_work_area", one_work_area),
];

pub(crate) fn add(suite: Suite) -> Suite {
    let suite = PROGRAMS.iter().fold(suite, |suite, &(name, program)| suite.ordered(name, program));
    suite.both("a_generator_is_used_on_two_streams_without_an_event", generator)
}

/// A plan as in nvmath-python: state that is kept from call to call. It has a work area, and no operand.
struct Plan {
    library: CopyLibrary,
    work_area: Buffer<f32>,
}

impl Plan {
    fn execute(&mut self, s: &CudaStream, x: &Buffer<f32>, y: &mut Buffer<f32>) -> Result<()> {
        self.begin(s, x)?;
        self.end(s, y)
    }

    fn begin(&mut self, s: &CudaStream, x: &Buffer<f32>) -> Result<()> {
        self.library.copy(s, x, &mut self.work_area)
    }

    fn end(&mut self, s: &CudaStream, y: &mut Buffer<f32>) -> Result<()> {
        // The additional steps on the work area make an execution longer.
        for _ in 0..4 {
            s.launch::<slow_scale>(LEN, (&mut self.work_area, 1.0, SLOW / 10))?;
        }
        self.library.copy(s, &self.work_area, y)
    }
}

struct Setting {
    s1: CudaStream,
    s2: CudaStream,
    plan: Plan,
    /// The operand, which is full of 1.
    a: Buffer<f32>,
    /// The buffer for results.
    b: Buffer<f32>,
    c: Buffer<f32>,
}

/// Makes the buffers. All work is complete, and all kernels are loaded.
fn set(platform: &Platform) -> Result<Setting> {
    let pool = platform.stream_pool("SEED", &CudaStreamPool::new().max_size(2))?;
    let (s1, s2) = (pool.allocate("s1")?, pool.allocate("s2")?);
    let made = || -> Result<Buffer<f32>> {
        let mut buffer = platform.buffer(LEN, &s1)?;
        s1.launch::<slow_fill>(LEN, (&mut buffer, 0.0, 0))?;
        s1.launch::<add_one>(LEN, (&mut buffer,))?;
        Ok(buffer)
    };
    let (a, mut b, c) = (made()?, made()?, made()?);
    s1.launch::<slow_copy>(LEN, (&mut b, &a, 0))?;
    let mut plan = Plan { library: CopyLibrary::new(platform)?, work_area: made()? };
    plan.execute(&s1, &a, &mut b)?;
    s1.synchronize_blocking()?;
    Ok(Setting { s1, s2, plan, a, b, c })
}

fn holds(s: &CudaStream, data: &Buffer<f32>, value: f32) -> Result<bool> {
    Ok(s.download_blocking(data)?.iter().all(|&found| found == value))
}

/// `b = fft(a)` on s1, `c = ifft(b)` on s2; then the host reads `c`.
fn used_on_another_stream(platform: &Platform) -> Result<bool> {
    let Setting { s1, s2, mut plan, mut a, mut b, mut c } = set(platform)?;
    let mut other = Plan { library: plan.library.clone(), work_area: platform.buffer(LEN, &s2)? };
    s1.launch::<slow_fill>(LEN, (&mut a, 7.0, SLOW))?;
    plan.execute(&s1, &a, &mut b)?;
    other.execute(&s2, &b, &mut c)?;
    holds(&s2, &c, 7.0)
}

/// `a` is made on s1, doubled and transformed on s2, and dropped. Then the memory of `a` is reused on s1.
fn dropped_operand(platform: &Platform) -> Result<bool> {
    let Setting { s1, s2, mut plan, a, mut b, mut c } = set(platform)?;
    s2.launch::<slow_fill>(LEN, (&mut c, 0.0, SLOW))?;
    plan.execute(&s2, &a, &mut b)?;
    drop(a);
    let reused = overwrite(platform, &s1, 1)?;
    Ok(reused & holds(&s2, &b, 1.0)?)
}

/// Like [`dropped_operand`], but a function has made the operand, and another value owns it alone: `f.release_operand()`.
fn dropped_with_its_owner(platform: &Platform) -> Result<bool> {
    struct Fft(Plan, Buffer<f32>);
    let Setting { s1, s2, plan, a, mut b, mut c } = set(platform)?;
    let mut fft = Fft(plan, a);
    s2.launch::<slow_fill>(LEN, (&mut c, 0.0, SLOW))?;
    fft.0.execute(&s2, &fft.1, &mut b)?;
    drop(fft);
    let reused = overwrite(platform, &s1, 2)?;
    Ok(reused & holds(&s2, &b, 1.0)?)
}

/// Allocates and overwrites memory that has become free, in `count` buffers that exist at the same time.
fn overwrite(platform: &Platform, s: &CudaStream, count: usize) -> Result<bool> {
    let mut all = (0..count).map(|_| platform.buffer(LEN, s)).collect::<Result<Vec<_>, _>>()?;
    for next in &mut all {
        s.launch::<slow_fill>(LEN, (next, 9.0, 0))?;
    }
    all.iter().try_fold(true, |all, next| Ok(all & holds(s, next, 9.0)?))
}

/// Calls `f.execute` with `a` on s1, then with `c` on s2, by a plan that is used on both streams.
fn one_work_area(platform: &Platform) -> Result<bool> {
    let Setting { s1, s2, mut plan, mut a, mut b, c } = set(platform)?;
    let mut d = platform.buffer(LEN, &s2)?;
    s1.launch::<slow_fill>(LEN, (&mut a, 7.0, 0))?;
    s2.launch::<slow_copy>(LEN, (&mut d, &c, 0))?;
    s1.synchronize_blocking()?;
    s2.synchronize_blocking()?;
    // The first execution is still running when the second one begins.
    plan.begin(&s1, &a)?;
    s1.synchronize_blocking()?;
    plan.end(&s1, &mut b)?;
    plan.execute(&s2, &c, &mut d)?;
    Ok(holds(&s2, &d, 1.0)? & holds(&s1, &b, 7.0)?)
}

/// `a` is transformed on s1, then changed in place on s2.
fn changed_in_place(platform: &Platform) -> Result<bool> {
    let Setting { s1, s2, mut plan, mut a, mut b, mut c } = set(platform)?;
    s1.launch::<slow_fill>(LEN, (&mut c, 0.0, SLOW))?;
    plan.execute(&s1, &a, &mut b)?;
    s2.launch::<add_one>(LEN, (&mut a,))?;
    s2.synchronize_blocking()?;
    holds(&s1, &b, 1.0)
}

/// A generator's position is a number on the host, so two streams can't advance it at the same time.
fn generator(platform: &Platform) -> Result<(), Failed> {
    let Setting { s1, s2, mut a, mut b, mut c, .. } = set(platform)?;
    let mut philox = Philox::new(4);
    s1.launch::<slow_fill>(LEN, (&mut c, 0.0, SLOW))?;
    philox.uniform(&s1, &mut a)?;
    philox.uniform(&s2, &mut b)?;
    let mut both = platform.buffer(2 * LEN, &s1)?;
    Philox::new(4).uniform(&s1, &mut both)?;
    let found = [s1.download_blocking(&a)?, s2.download_blocking(&b)?].concat();
    check_equal(found, s1.download_blocking(&both)?)
}
