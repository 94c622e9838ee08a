//! Repeats the launches of a process with random values, on the simulator and on a GPU, and compares what the two bodies write.

use std::any::Any;
use std::fmt;
use std::ops::RangeInclusive;
use std::panic::Location;

use num_complex::Complex;

use super::bodies::{Draw, Drawn, Tolerance};
use super::variables;
use crate::driver::{Access, AccessMode};
use crate::error::{BodyDifference, BodyFailure, BodyProblem, Error, KernelBody, Result};
use crate::kernel::launch::launch_kernel;
use crate::kernel::{CudaBody, KernelInfo, Passing, Recorded};
use crate::memory::access::Order;
use crate::memory::{Bool8, Element, Tensor};
use crate::platform::{Platform, device};
use crate::stream::CudaStream;
#[cfg(feature = "half")]
use crate::{f16, memory::bf16};

/// The seeds of a launch's values: integers from 0 for the even ones, and those around 0 for the odd ones.
const SEEDS: [u64; 4] = [0, 1, 2, 3];

/// The kernels and launches that were compared.
#[derive(Debug, Default)]
pub(super) struct Compared {
    /// The kernels with a launch that both bodies took.
    pub(super) kernels: Vec<&'static str>,
    /// How many launches they took, each seed counted.
    pub(super) launches: usize,
    /// The kernels whose Rust body took no random values, each with its error.
    pub(super) refused: Vec<(&'static str, String)>,
}

/// "compared 2 launches of `add`, `scale`; not compared: `gather` (…)"
impl fmt::Display for Compared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "compared {} launches of `{}`", self.launches, self.kernels.join("`, `"))?;
        let refused: Vec<_> =
            self.refused.iter().map(|(name, problem)| format!("`{name}` ({problem})")).collect();
        if refused.is_empty() {
            Ok(())
        } else {
            write!(f, "; not compared: {}", refused.join(", "))
        }
    }
}

/// Compares both bodies of each launch. `cuda` has the description whose body runs on the second platform: that of the kernel, or
/// in a test one of a kernel with the same arguments.
pub(super) fn compare(
    launches: &[Recorded],
    platforms: impl Fn() -> Result<[Platform; 2]>,
    cuda: impl Fn(&'static KernelInfo) -> &'static KernelInfo,
) -> Result<Compared> {
    let mut compared = Compared::default();
    let seeds = variables::seed()?.map_or_else(|| SEEDS.to_vec(), |seed| vec![seed]);
    for launch in launches {
        let name = launch.info.name;
        let mut refused = launch.problem.map(ToOwned::to_owned);
        for seed in seeds.iter().filter(|_| launch.problem.is_none()) {
            // New ones for each launch, since a body that fails may leave its platform unusable.
            let [rust, device] = platforms()?;
            let mut values = match Values::draw(launch, *seed) {
                Ok(values) => values,
                Err(problem) => {
                    refused = Some(problem);
                    break;
                }
            };
            let mut by_cuda = values.again();
            if let Err(error) = values.run(launch, launch.info, &rust) {
                refused = Some(error.to_string());
                continue;
            }
            let problem = match by_cuda.run(launch, cuda(launch.info), &device) {
                Err(cause) => BodyProblem::Failed { body: KernelBody::Cuda, cause },
                Ok(()) => match values.first_difference(&by_cuda, launch) {
                    Some(difference) => BodyProblem::Differ(difference),
                    None => {
                        compared.launches += 1;
                        if !compared.kernels.contains(&name) {
                            compared.kernels.push(name);
                        }
                        continue;
                    }
                },
            };
            return Err(Error::Bodies(Box::new(BodyFailure {
                kernel: name,
                problem,
                seed: *seed,
                replay: format!("{}={seed}", variables::SEED),
                launch: format!("{} and {}", launch.grid, described(launch)),
            })));
        }
        if let Some(problem) = refused
            && !compared.kernels.contains(&name)
            && compared.refused.iter().all(|(known, _)| *known != name)
        {
            compared.refused.push((name, problem));
        }
    }
    let kernels = &compared.kernels;
    compared.refused.retain(|(name, _)| !kernels.contains(name));
    Ok(compared)
}

fn described(launch: &Recorded) -> String {
    let each =
        launch.memory.iter().map(|memory| format!("`{}` of {} bytes", memory.name, memory.bytes));
    each.collect::<Vec<_>>().join(", ")
}

/// The values of a launch's arguments in memory.
struct Values(Vec<Box<dyn Memory>>);

impl Values {
    /// # Errors
    /// A type of elements without random values.
    fn draw(launch: &Recorded, seed: u64) -> Result<Self, String> {
        let mut draw = Draw::new(seed);
        let all = launch.memory.iter().map(|memory| {
            drawn(&mut draw, memory.cuda, memory.bytes as usize, seed % 2 == 1).ok_or_else(|| {
                let (name, cuda) = (memory.name, memory.cuda);
                format!("there are no random values for `{name}`, whose elements are `{cuda}`")
            })
        });
        Ok(Self(all.collect::<Result<_, _>>()?))
    }

    fn again(&self) -> Self {
        Self(self.0.iter().map(|memory| memory.again()).collect())
    }

    /// Launches the body of `info`, and replaces the values by those that are there afterwards.
    fn run(&mut self, launch: &Recorded, info: &'static KernelInfo, on: &Platform) -> Result<()> {
        let stream = on.default_stream(device(0))?;
        for memory in &mut self.0 {
            memory.upload(on)?;
        }
        let mut passing = Passing::new();
        for (index, param) in launch.params.iter().enumerate() {
            let place = launch.memory.iter().position(|memory| memory.param == index);
            let Some((recorded, memory)) =
                place.and_then(|at| launch.memory.get(at).zip(self.0.get(at)))
            else {
                passing.param(*param);
                continue;
            };
            let mode = if recorded.is_written { AccessMode::Write } else { AccessMode::Read };
            memory.pass(recorded.name, mode, &mut passing);
        }
        let location = Location::caller();
        // SAFETY: the parameters are those of a launch of the kernel, with the addresses of memory of as many bytes, to which
        // `self` is a `&mut` until the work is done. `compare` has no body of other arguments.
        unsafe {
            launch_kernel(&stream, info, &launch.grid, &mut passing, Order::ByData, location)?;
        }
        drop(passing);
        stream.synchronize_blocking()?;
        self.0.iter_mut().try_for_each(|memory| memory.download(&stream))
    }

    fn first_difference(&self, cuda: &Self, launch: &Recorded) -> Option<BodyDifference> {
        let is_one_body = matches!(launch.info.cuda, CudaBody::Made(_));
        let mut both = self.0.iter().zip(&cuda.0).zip(&launch.memory);
        both.find_map(|((rust, cuda), memory)| {
            rust.first_difference(memory.name, &**cuda, is_one_body)
        })
    }
}

/// The values of an argument, on the host or on a device.
trait Memory {
    fn again(&self) -> Box<dyn Memory>;
    fn upload(&mut self, on: &Platform) -> Result<()>;
    fn pass<'a>(&'a self, name: &'static str, mode: AccessMode, to: &mut Passing<'a>);
    fn download(&mut self, stream: &CudaStream) -> Result<()>;
    fn first_difference(
        &self,
        name: &'static str,
        cuda: &dyn Memory,
        is_one_body: bool,
    ) -> Option<BodyDifference>;
    fn any(&self) -> &dyn Any;
}

struct Elements<T: Element> {
    values: Vec<T>,
    uploaded: Option<Tensor<T>>,
}

impl<T: Element> Memory for Elements<T> {
    fn again(&self) -> Box<dyn Memory> {
        Box::new(Self { values: self.values.clone(), uploaded: None })
    }

    fn upload(&mut self, on: &Platform) -> Result<()> {
        self.uploaded = Some(on.upload(&self.values)?);
        Ok(())
    }

    fn pass<'a>(&'a self, name: &'static str, mode: AccessMode, to: &mut Passing<'a>) {
        if let Some(buffer) = &self.uploaded {
            let range = buffer.range();
            to.number(range.address);
            to.touch(Access { range, mode, argument: name, rows: None }, None, buffer.block());
        }
    }

    fn download(&mut self, stream: &CudaStream) -> Result<()> {
        if let Some(buffer) = &self.uploaded {
            self.values = stream.download_blocking(buffer)?;
        }
        Ok(())
    }

    fn first_difference(
        &self,
        name: &'static str,
        cuda: &dyn Memory,
        is_one_body: bool,
    ) -> Option<BodyDifference> {
        let cuda = cuda.any().downcast_ref::<Self>()?;
        let difference = tolerance(T::DTYPE).first_difference(name, &self.values, &cuda.values)?;
        // A threshold of a number that both bodies round differently gives an integer far from the other one.
        let is_integer = difference.ulps.is_none() && T::DTYPE.contains("int");
        let is_rare = difference.count * 100 <= difference.len;
        (is_one_body || !is_integer || !is_rare).then_some(difference)
    }

    fn any(&self) -> &dyn Any {
        self
    }
}

/// How far two results may be from each other: functions as `exp` and fused products round differently on both sides.
fn tolerance(dtype: &str) -> Tolerance {
    match dtype {
        "float16" | "bfloat16" => Tolerance::relative(3e-2).or_absolute(3e-2),
        "float64" | "complex128" => Tolerance::relative(1e-9).or_absolute(1e-9),
        "float32" | "complex64" => Tolerance::relative(1e-4).or_absolute(1e-4),
        _ => Tolerance::EXACT,
    }
}

/// Random elements of this type of CUDA.
fn drawn(draw: &mut Draw, cuda: &str, bytes: usize, has_negative: bool) -> Option<Box<dyn Memory>> {
    fn elements<T: Drawn + Element>(
        draw: &mut Draw,
        bytes: usize,
        range: RangeInclusive<T>,
    ) -> Option<Box<dyn Memory>> {
        let values = draw.values(bytes / size_of::<T>(), range);
        Some(Box::new(Elements { values, uploaded: None }))
    }
    macro_rules! first {
        ($($ty:ty: $range:expr),* $(,)?) => {
            $(if cuda == <$ty as Element>::ELEMENT_CUDA {
                return elements::<$ty>(draw, bytes, $range);
            })*
        };
    }
    let least = if has_negative { -7 } else { 0 };
    // Few programs have a list of indices that these are not in.
    first!(
        f32: -1.0..=1.0, f64: -1.0..=1.0,
        u8: 0..=7, u16: 0..=7, u32: 0..=7, u64: 0..=7,
        i8: least..=7, i16: least.into()..=7, i32: least.into()..=7, i64: least.into()..=7,
        Bool8: false.into()..=true.into(),
        Complex<f32>: Complex::new(-1.0, -1.0)..=Complex::new(1.0, 1.0),
        Complex<f64>: Complex::new(-1.0, -1.0)..=Complex::new(1.0, 1.0),
    );
    #[cfg(feature = "half")]
    first!(
        f16: f16::from_f32(-1.0)..=f16::from_f32(1.0),
        bf16: bf16::from_f32(-1.0)..=bf16::from_f32(1.0),
    );
    None
}

// Without debug assertions no launch is recorded.
#[cfg(all(test, debug_assertions))]
mod tests;
