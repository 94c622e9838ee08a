//! Random numbers against cuRAND: its host generator where it is installed, and else its recorded results.
//!
//! `curand.txt` has a block for each generator: its seed and offset, and its calls with their results. Results are bits in
//! hexadecimal, or, of long calls, their hash.

use std::fmt::Write;

use streamflow::prelude::*;
use streamflow_math::random::Philox;
use streamflow_tests::foreign::{Curand, HostPhilox};
use streamflow_tests::random::Random;
use streamflow_tests::setup::stream;
use streamflow_tests::{Failed, Suite, check, check_equal};

const REQUIRE: &str = "STREAMFLOW_REQUIRE_CURAND";
const RECORDED: &str = include_str!("curand.txt");

/// How many numbers a result has at most to be recorded in full. Longer results are recorded by their hash.
const LONGEST: usize = 16;

pub(crate) fn add(suite: Suite) -> Suite {
    suite
        .both("random_numbers_are_those_that_curand_has_given", recorded)
        .optional("the_record_is_what_curand_gives", REQUIRE, || with_curand(record_is_right))
        .optional("random_calls_are_those_of_curand", REQUIRE, || with_curand(drawn_calls))
        .plain("a_difference_from_curand_is_seen", control)
}

/// A call of a random generator.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Call {
    U32(usize),
    UniformF32(usize),
    UniformF64(usize),
    NormalF32(usize, f32, f32),
    NormalF64(usize, f64, f64),
}

/// The numbers that a call returned.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Numbers {
    U32(Vec<u32>),
    F32(Vec<f32>),
    F64(Vec<f64>),
}

/// A generator of the record, which gives numbers of one type.
#[derive(Debug, Clone)]
enum Generator {
    Narrow(Philox),
    Wide(Philox<f64>),
}

impl Generator {
    fn new(is_wide: bool, seed: u64, offset: u64) -> Self {
        if is_wide {
            Self::Wide(Philox::new(seed).at(offset))
        } else {
            Self::Narrow(Philox::new(seed).at(offset))
        }
    }

    /// The numbers of a call.
    fn call(&mut self, call: Call, platform: &Platform, s: &CudaStream) -> Result<Numbers> {
        fn made<T: Element>(
            (platform, s): (&Platform, &CudaStream),
            len: usize,
            fill: impl FnOnce(&mut Tensor<T>) -> Result<(), Error>,
        ) -> Result<Vec<T>> {
            let mut out = platform.tensor([len], s)?;
            fill(&mut out)?;
            Ok(s.download_blocking(&out)?)
        }
        let on = (platform, s);
        Ok(match (call, self) {
            (Call::U32(len), Self::Narrow(philox)) => {
                Numbers::U32(made(on, len, |out| philox.fill_u32(s, out))?)
            }
            (Call::UniformF32(len), Self::Narrow(philox)) => {
                Numbers::F32(made(on, len, |out| philox.uniform(s, out))?)
            }
            (Call::UniformF64(len), Self::Wide(philox)) => {
                Numbers::F64(made(on, len, |out| philox.uniform(s, out))?)
            }
            (Call::NormalF32(len, mean, deviation), Self::Narrow(philox)) => {
                Numbers::F32(made(on, len, |out| philox.normal(s, out, mean, deviation))?)
            }
            (Call::NormalF64(len, mean, deviation), Self::Wide(philox)) => {
                Numbers::F64(made(on, len, |out| philox.normal(s, out, mean, deviation))?)
            }
            (call, generator) => {
                return Err(Failure::msg(format!("{call:?} of another type than {generator:?}")));
            }
        })
    }
}

impl Call {
    /// Whether the call gives `f64` numbers.
    fn is_wide(self) -> bool {
        matches!(self, Self::UniformF64(_) | Self::NormalF64(..))
    }

    fn of_curand(self, philox: &mut HostPhilox<'_>) -> Result<Numbers, Failed> {
        Ok(match self {
            Self::U32(len) => Numbers::U32(philox.u32(len)?),
            Self::UniformF32(len) => Numbers::F32(philox.uniform_f32(len)?),
            Self::UniformF64(len) => Numbers::F64(philox.uniform_f64(len)?),
            Self::NormalF32(len, mean, deviation) => {
                Numbers::F32(philox.normal_f32(len, (mean, deviation))?)
            }
            Self::NormalF64(len, mean, deviation) => {
                Numbers::F64(philox.normal_f64(len, (mean, deviation))?)
            }
        })
    }

    /// Returns the mean of a call with numbers that need not be equal bit for bit.
    fn mean(self) -> Option<f64> {
        match self {
            Self::NormalF32(_, mean, _) => Some(mean.into()),
            Self::NormalF64(_, mean, _) => Some(mean),
            _ => None,
        }
    }

    fn parse(text: &str) -> Option<Self> {
        let mut words = text.split(' ');
        let (name, len) = (words.next()?, words.next()?.parse().ok()?);
        let mut number = || words.next()?.parse::<f64>().ok();
        Some(match name {
            "u32" => Self::U32(len),
            "uniform_f32" => Self::UniformF32(len),
            "uniform_f64" => Self::UniformF64(len),
            "normal_f32" => Self::NormalF32(len, number()? as f32, number()? as f32),
            "normal_f64" => Self::NormalF64(len, number()?, number()?),
            _ => return None,
        })
    }
}

impl Numbers {
    /// Returns the bits as text, or their hash if there are many.
    fn text(&self) -> String {
        let (digits, bits): (_, Vec<u64>) = match self {
            Self::U32(values) => (8, values.iter().map(|x| u64::from(*x)).collect()),
            Self::F32(values) => (8, values.iter().map(|x| x.to_bits().into()).collect()),
            Self::F64(values) => (16, values.iter().map(|x| x.to_bits()).collect()),
        };
        if bits.len() > LONGEST {
            // Computes the hash FNV-1a, word by word.
            let hash = bits.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, word| {
                (hash ^ word).wrapping_mul(0x0000_0100_0000_01b3)
            });
            return format!(" #{hash:016x}");
        }
        bits.iter().fold(String::new(), |mut text, bits| {
            // Writing to a string can't fail.
            let _ = write!(text, " {bits:0digits$x}");
            text
        })
    }

    /// Parses the recorded numbers of a call.
    fn parse(text: &str, of: Call) -> Result<Self, Failed> {
        let words = || text.split_whitespace();
        Ok(match of {
            Call::U32(_) => {
                Self::U32(words().map(|x| u32::from_str_radix(x, 16)).collect::<Result<_, _>>()?)
            }
            Call::UniformF32(_) | Call::NormalF32(..) => {
                let bits = words().map(|x| u32::from_str_radix(x, 16));
                Self::F32(bits.map(|x| x.map(f32::from_bits)).collect::<Result<_, _>>()?)
            }
            Call::UniformF64(_) | Call::NormalF64(..) => {
                let bits = words().map(|x| u64::from_str_radix(x, 16));
                Self::F64(bits.map(|x| x.map(f64::from_bits)).collect::<Result<_, _>>()?)
            }
        })
    }

    /// Returns each number with the size of its ulp.
    fn floats(&self) -> Option<Vec<(f64, f64)>> {
        let narrow = |x: &f32| (f64::from(*x), f64::from(x.abs().next_up() - x.abs()));
        let wide = |x: &f64| (*x, x.abs().next_up() - x.abs());
        match self {
            Self::U32(_) => None,
            Self::F32(values) => Some(values.iter().map(narrow).collect()),
            Self::F64(values) => Some(values.iter().map(wide).collect()),
        }
    }

    fn len(&self) -> usize {
        match self {
            Self::U32(values) => values.len(),
            Self::F32(values) => values.len(),
            Self::F64(values) => values.len(),
        }
    }
}

/// Fails if a call has not given cuRAND's numbers: the same bits, or, for normals, values within a number of ulps. The
/// ulp is that of the number before the mean is added, and the sum may be rounded differently.
fn check_same(call: Call, found: &Numbers, wanted: &Numbers, ulps: f64) -> Result<(), Failed> {
    let (Some(mean), Some(a), Some(b)) = (call.mean(), found.floats(), wanted.floats()) else {
        return check(found.text() == wanted.text(), || {
            format!("{call:?}:{}, not{}", found.text(), wanted.text())
        });
    };
    check_equal(found.len(), wanted.len())?;
    for (i, ((a, _), (b, ulp))) in a.iter().zip(&b).enumerate() {
        let size = (b - mean).abs();
        // An ulp of a number in `[2^k, 2^(k+1))` is at least this part of it.
        let least =
            if matches!(call, Call::NormalF32(..)) { f32::EPSILON.into() } else { f64::EPSILON };
        let before = size * least;
        let allowed = ulps * before + if mean == 0.0 { 0.0 } else { *ulp };
        check((a - b).abs() <= allowed, || format!("{call:?}, number {i}: {a:e}, not {b:e}"))?;
    }
    Ok(())
}

/// A block of the record: the generator's seed and offset, and its calls with their results.
type Block<'a> = (u64, u64, Vec<(Call, &'a str, &'a str)>);

fn blocks() -> Result<Vec<Block<'static>>, Failed> {
    let wrong = |line: &str| Failed::msg(format!("curand.txt: {line:?}"));
    let mut blocks: Vec<Block<'_>> = Vec::new();
    for line in RECORDED.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        if let Some(of) = line.strip_prefix("philox ") {
            let (seed, offset) = of.split_once(' ').ok_or_else(|| wrong(line))?;
            blocks.push((seed.parse()?, offset.parse()?, Vec::new()));
        } else {
            let (call, numbers) = line.split_once(':').ok_or_else(|| wrong(line))?;
            let parsed = Call::parse(call).ok_or_else(|| wrong(line))?;
            blocks.last_mut().ok_or_else(|| wrong(line))?.2.push((parsed, call, numbers));
        }
    }
    Ok(blocks)
}

fn recorded(platform: &Platform) -> Result<(), Failed> {
    let s = stream(platform)?;
    for (seed, offset, calls) in blocks()? {
        let is_wide = calls.iter().any(|(call, ..)| call.is_wide());
        let mut philox = Generator::new(is_wide, seed, offset);
        for (call, name, wanted) in calls {
            let found = philox.call(call, platform, &s)?;
            if wanted.starts_with(" #") {
                check(found.text() == wanted, || format!("{name}:{}, not{wanted}", found.text()))?;
            } else {
                check_same(call, &found, &Numbers::parse(wanted, call)?, 4.0).map_err(|wrong| {
                    Failed::msg(format!("seed {seed}, offset {offset}: {wrong}"))
                })?;
            }
        }
    }
    Ok(())
}

fn with_curand(test: impl Fn(&Curand) -> Result<(), Failed>) -> Result<Option<String>, Failed> {
    match Curand::load() {
        Ok(curand) => test(&curand).map(|()| None),
        Err(missing) => Ok(Some(missing)),
    }
}

/// Makes the record anew and compares it. If it differs, the new record is printed whole, so that it can replace the old
/// one.
fn record_is_right(curand: &Curand) -> Result<(), Failed> {
    let mut record = String::new();
    for line in RECORDED.lines().filter(|line| line.starts_with('#')) {
        writeln!(record, "{line}")?;
    }
    for (seed, offset, calls) in blocks()? {
        writeln!(record, "\nphilox {seed} {offset}")?;
        let mut philox = curand.philox(seed, offset)?;
        for (call, name, _) in calls {
            writeln!(record, "{name}:{}", call.of_curand(&mut philox)?.text())?;
        }
    }
    check(record == RECORDED, || format!("curand.txt is to be:\n{record}"))
}

/// Compares generators whose calls are drawn by a seed.
fn drawn_calls(curand: &Curand) -> Result<(), Failed> {
    let platform = Platform::host().build()?;
    let s = stream(&platform)?;
    let mut random = Random::new(18);
    for _ in 0..40 {
        let (seed, offset) = (random.bits(), random.bits() >> random.below(64));
        let is_wide = random.below(2) == 0;
        let mut theirs = curand.philox(seed, offset)?;
        let mut ours = Generator::new(is_wide, seed, offset);
        let context = format!("{ours:?}");
        for _ in 0..4 {
            let call = drawn(&mut random, is_wide);
            let wanted = call.of_curand(&mut theirs)?;
            check_same(call, &ours.call(call, &platform, &s)?, &wanted, 1.0)
                .map_err(|wrong| Failed::msg(format!("{context}: {wrong}")))?;
        }
    }
    // cuRAND returns CURAND_STATUS_TYPE_ERROR. That is why the library has no `fill_u64`.
    check_equal(curand.philox(0, 0)?.u64_status()?, 103)
}

fn drawn(random: &mut Random, is_wide: bool) -> Call {
    // Most lengths are short. Some reach into the next round of threads, and some into the round after it.
    let len = match random.below(16) {
        0 => 262_000 + random.below(600),
        1 => 500_000 + random.below(99_999),
        _ => 1 + random.below(99),
    };
    let (mean, deviation) = (f64::from(random.signed()), f64::from(random.signed().abs()));
    match (random.below(3), is_wide) {
        (0, true) => Call::NormalF64(len, mean, deviation),
        (_, true) => Call::UniformF64(len),
        (0, false) => Call::NormalF32(len, mean as f32, deviation as f32),
        (1, false) => Call::UniformF32(len),
        (_, false) => Call::U32(len),
    }
}

/// The control: the comparison finds a generator that is one number ahead, and numbers that are 10 ulps off.
fn control() -> Result<(), Failed> {
    let platform = Platform::host().build()?;
    let s = stream(&platform)?;
    for call in [Call::U32(9), Call::UniformF64(9), Call::NormalF32(9, 0.0, 1.0)] {
        let of = |offset| Generator::new(call.is_wide(), 1, offset).call(call, &platform, &s);
        let (wanted, found) = (of(0)?, of(1)?);
        check(check_same(call, &found, &wanted, 4.0).is_err(), || format!("{call:?} is the same"))?;
        check_same(call, &wanted, &wanted, 0.0)?;
    }
    let call = Call::NormalF32(1, 0.0, 1.0);
    let off = |steps: u32| Numbers::F32(vec![f32::from_bits(1.5_f32.to_bits() + steps)]);
    check_same(call, &off(1), &off(0), 4.0)?;
    check(check_same(call, &off(10), &off(0), 4.0).is_err(), || "10 ulps are accepted".into())
}
