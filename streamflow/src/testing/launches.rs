//! Repeats the launches of a process with random values, on the simulator and on a GPU, and compares what the two bodies write.
//! Reductions and scans are repeated as whole calls.

mod drawn;
mod memory;

use std::fmt;
use std::panic::Location;

use self::drawn::{Kind, drawn};
use self::memory::{Memory, Rule};
use super::bodies::Draw;
use super::variables;
use crate::driver::{Access, AccessMode};
use crate::error::{BodyDifference, BodyFailure, BodyProblem, Error, KernelBody, Result};
use crate::kernel::launch::launch_kernel;
use crate::kernel::{KernelInfo, Passing, Recorded, Work, recorded};
use crate::memory::access::Order;
use crate::platform::{Platform, device};

/// The seeds of a launch's values. `Kind::of` says which values each has.
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
                launch: described(launch),
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

/// Compares both bodies of the launches so far of the kernels with this name, for tests in which the second platform need not be a GPU.
///
/// # Errors
/// As for [`kernels`](super::kernels).
pub fn compare_launches(name: &str, cuda: impl Fn() -> Result<Platform>) -> Result<String> {
    let mut launches = recorded();
    launches.retain(|launch| launch.info.name == name);
    let platforms = || Ok([Platform::host().build()?, cuda()?]);
    Ok(compare(&launches, platforms, |info| info)?.to_string())
}

fn described(launch: &Recorded) -> String {
    match &launch.work {
        Work::Launch(grid, _) => {
            let each = launch.memory.iter();
            let each = each.map(|memory| format!("`{}` of {} bytes", memory.name, memory.bytes));
            format!("{grid} and {}", each.collect::<Vec<_>>().join(", "))
        }
        Work::Call(call) => call.to_string(),
    }
}

/// The values of a launch's arguments in memory.
struct Values(Vec<Box<dyn Memory>>);

impl Values {
    /// # Errors
    /// A type of elements without random values.
    fn draw(launch: &Recorded, seed: u64) -> Result<Self, String> {
        let kind = Kind::of(&launch.work, seed);
        let mut draw = Draw::new(seed);
        let all = launch.memory.iter().map(|memory| {
            drawn(&mut draw, memory.cuda, memory.bytes as usize, kind).ok_or_else(|| {
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
        let place = |at: usize| {
            let (range, block) = self.0.get(at)?.memory()?;
            let of = launch.memory.get(at)?;
            let mode = if of.is_written { AccessMode::Write } else { AccessMode::Read };
            Some((Access { range, mode, argument: of.name, rows: None }, block))
        };
        match &launch.work {
            Work::Launch(grid, params) => {
                let mut passing = Passing::new();
                for (index, param) in params.iter().enumerate() {
                    let at = launch.memory.iter().position(|memory| memory.param == index);
                    let Some((access, block)) = at.and_then(place) else {
                        passing.param(*param);
                        continue;
                    };
                    passing.number(access.range.address);
                    passing.touch(access, None, block);
                }
                let location = Location::caller();
                // SAFETY: the parameters are those of a launch of the kernel, with the addresses of memory of as many bytes, to
                // which `self` is a `&mut` until the work is done. `compare` has no body of other arguments.
                unsafe {
                    launch_kernel(&stream, info, grid, &mut passing, Order::ByData, location)?;
                }
            }
            Work::Call(call) => {
                let memory = place(0).zip(place(1));
                let memory = memory
                    .ok_or_else(|| crate::Failure::msg("a call has a result and an input"))?;
                // SAFETY: as above, for the operands of the call.
                unsafe { call.repeat(&stream, info, memory.into())? };
            }
        }
        stream.synchronize_blocking()?;
        self.0.iter_mut().try_for_each(|memory| memory.download(&stream))
    }

    fn first_difference(&self, cuda: &Self, launch: &Recorded) -> Option<BodyDifference> {
        let rule = Rule::of(launch);
        let mut both = self.0.iter().zip(&cuda.0).zip(&launch.memory);
        both.find_map(|((rust, cuda), memory)| rust.first_difference(memory.name, &**cuda, rule))
    }
}

// Without debug assertions no launch is recorded.
#[cfg(all(test, debug_assertions))]
mod tests;
