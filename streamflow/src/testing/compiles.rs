//! Tests that the CUDA bodies of kernels compile.

use std::num::NonZero;
use std::panic::resume_unwind;
use std::thread::{self, ScopedJoinHandle};

use super::{Outcome, launches};
use crate::driver::DriverError;
use crate::error::{Error, Result};
use crate::kernel::{self, CompiledCode, KernelInfo, Registered, compile_for, supports};
use crate::platform::{Platform, device};

/// The architectures Turing, Ampere, Hopper and Blackwell.
const COMPUTE_CAPABILITIES: [(u32, u32); 4] = [(7, 5), (8, 0), (9, 0), (10, 0)];

/// Compiles the CUDA bodies of all kernels of the program, and compares them with the Rust bodies on a GPU, for a test that can't
/// miss a kernel. These are the kernels of the test's crate and of all crates that are linked into the test, this library among
/// them.
///
/// NVRTC compiles each kernel for the compute capabilities 7.5, 8.0, 9.0 and 10.0, as far as NVRTC supports them, with and
/// without the checks of `STREAMFLOW_CHECK_BOUNDS=1`. Without NVRTC, or with one that supports none of these, the outcome is
/// [`Outcome::Skipped`]; with `STREAMFLOW_REQUIRE_NVRTC=1` that is an error. To compile one kernel, also for other compute
/// capabilities, call [`compile_for`].
///
/// Of a generic kernel, the instances that the program launches are compiled, and those that [`#[kernel(instances(f32, f16),
/// …)]`](macro@crate::kernel) names. The outcome lists the compiled kernels, and names the generic kernels without instances as
/// not compiled.
///
/// A program launches an instance if the launch is part of its code, whether the code runs or not. Part of the code are the
/// operators of each graph that the tested crate defines, for example `scale::<f32>` for a node of the type `Scale<f32>`, and
/// everything that its tests call. A graph of another crate counts if the program makes that graph. These launches are found on
/// Linux, for x86-64 and AArch64.
///
/// Cargo links a crate if the program names it: a test in a file of its own begins with `use my_kernels as _;`.
///
/// Where a GPU is, both bodies of each kernel are also *compared*, with the grids that launches use: a program with debug assertions
/// remembers the first launches of each kernel, four with different grids, on any platform. `kernels` repeats them with random
/// values in place of the memory's, four times each, on the simulator and on the first GPU: numbers from -1 to 1, integers from 0
/// to 7 or from -7 to 7. So call it after the program's graphs have run, in the same test. Floating-point results of 32 bits may
/// differ by 1e-4, or that part of the larger one; those of 64 bits by 1e-9, those of 16 bits by 3e-2. Integers are equal, where a
/// kernel has two bodies in 99 of 100 places. A kernel whose Rust body panics for random values is listed as not compared: write
/// its test with [`compare_bodies`](super::compare_bodies). With `STREAMFLOW_REQUIRE_CUDA=1` a missing GPU is an error.
///
/// Of a reduction and of a scan, the whole call is repeated, with an input and an output of the same shapes, strides and axis: four
/// calls of each function, whose trees have another form or another number of blocks. The parts between the launches of a call are
/// not compared on their own, and have no random values. Two of the four inputs have integers of the whole type, all odd, and numbers
/// from 0.8 to 1.25: a product of many numbers from -1 to 1 is 0, and so tells nothing. The results are equal bit by bit, where NaN
/// equals NaN. If the function, or its `map`, calls one that is not exact, as `exp`, they may differ as those of other kernels.
///
/// ```standalone_crate
/// use streamflow::prelude::*;
///
/// /// out[i] = a[i]
/// #[kernel(instances(f32, f64), requires(out.len() == a.len()), unsafe cuda = "
///     unsigned long long i = thread_index();
///     if (i < out_len) out[i] = a[i];
/// ")]
/// fn copied<T: Element>(out: &mut [T], a: &[T]) {
///     out.copy_from_slice(a);
/// }
///
/// # fn main() -> Result<()> {
/// // In a `#[test]`.
/// println!("{}", streamflow::testing::kernels()?); // NVRTC 13.0 compiled `copied<float>`, `copied<double>`, … for 7.5, …
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// [`DriverError::Kernel`](crate::driver::DriverError::Kernel) with the compiler's messages about each kernel that does
/// not compile, and the file and the line of each mistake; [`Error::Bodies`] for the first launch whose bodies differ; the
/// driver's, if there is a GPU that can't be used.
pub fn kernels() -> Result<Outcome> {
    let compiled = compile_all(&kernel::kernels())?;
    let Outcome::Passed(compiled) = compiled else { return Ok(compiled) };
    let cuda = match Platform::cuda() {
        Ok(cuda) => cuda,
        Err(missing) => {
            return Ok(match Outcome::without(missing, "STREAMFLOW_REQUIRE_CUDA")? {
                Outcome::Skipped(reason) => {
                    Outcome::Passed(format!("{compiled}; their bodies were not compared: {reason}"))
                }
                passed @ Outcome::Passed(_) => passed,
            });
        }
    };
    let launches = kernel::recorded();
    if launches.is_empty() {
        let why = if cfg!(debug_assertions) {
            "this process has launched none before"
        } else {
            "a program without debug assertions remembers no launch"
        };
        return Ok(Outcome::Passed(format!("{compiled}; no bodies were compared: {why}")));
    }
    let name = cuda.device_info(device(0))?.name.clone();
    let platforms = || Ok([Platform::host().build()?, Platform::cuda()?]);
    let compared = launches::compare(&launches, platforms, |info| info)?;
    Ok(Outcome::Passed(format!("{compiled}; {compared} on {name}")))
}

fn compile_all(kernels: &[Registered]) -> Result<Outcome> {
    let version = match CompiledCode::compiler_version() {
        Ok(version) => version,
        Err(missing) => return Outcome::without(missing, "STREAMFLOW_REQUIRE_NVRTC"),
    };
    let (mut names, mut failed, mut compiled) = (Vec::new(), Vec::new(), Vec::new());
    let infos: Vec<&KernelInfo> = kernels.iter().filter_map(|one| one.info.as_ref()).collect();
    for (info, result) in infos.iter().zip(compile_each(&infos)) {
        match result {
            Ok(targets) => compiled = targets,
            Err(Error::Driver(DriverError::Kernel { message, .. })) => {
                failed.push((name_of(info), message));
            }
            Err(other) => return Err(other),
        }
        names.push(format!("`{}`", name_of(info)));
    }
    if !failed.is_empty() {
        let (names, messages): (Vec<_>, Vec<_>) = failed.into_iter().unzip();
        let (kernel, message) = (names.join("`, `"), messages.join("\n"));
        return Err(DriverError::Kernel { kernel, message }.into());
    }
    Ok(match concluded(&names.join(", "), version, &compiled)? {
        Outcome::Passed(text) => Outcome::Passed(text + &left_out(kernels)),
        other => other,
    })
}

/// The end of a text that lists the generic kernels without instances. Empty if there are none.
fn left_out(kernels: &[Registered]) -> String {
    let generic = kernels.iter().filter(|kernel| kernel.info.is_none());
    let places = generic.map(|kernel| {
        let Registered { name, file, line, .. } = kernel;
        format!("`{name}` ({file}:{line})")
    });
    let places: Vec<_> = places.collect();
    if places.is_empty() {
        return String::new();
    }
    format!(
        "; not compiled, since no instance is launched or named: {}; name the types, as in `#[kernel(instances(f32), …)]`",
        places.join(", ")
    )
}

/// Compiles kernels and returns the results in the order of the kernels. NVRTC compiles on as many threads as there are cores.
fn compile_each(kernels: &[&KernelInfo]) -> Vec<Result<Vec<(u32, u32)>>> {
    let threads = thread::available_parallelism().map_or(1, NonZero::get);
    let part = kernels.len().div_ceil(threads).max(1);
    thread::scope(|scope| {
        let of_part = |part: &'_ [&KernelInfo]| part.iter().map(|info| compile(info)).collect();
        let threads = kernels.chunks(part).map(|part| scope.spawn(move || of_part(part)));
        // All threads are spawned before the first one is joined.
        let threads: Vec<ScopedJoinHandle<'_, Vec<_>>> = threads.collect();
        let results = threads.into_iter().map(|thread| match thread.join() {
            Ok(results) => results,
            Err(panic) => resume_unwind(panic),
        });
        results.flatten().collect()
    })
}

/// Compiles a kernel, with and without checks of indices. Returns the compute capabilities for which it was compiled.
fn compile(info: &KernelInfo) -> Result<Vec<(u32, u32)>> {
    let mut compiled = Vec::new();
    for target in COMPUTE_CAPABILITIES {
        if supports(target)? {
            compile_for(info, target)?;
            CompiledCode::checked_for(info, target)?;
            compiled.push(target);
        }
    }
    Ok(compiled)
}

/// The name of a kernel together with its types, as `copied<float>`.
fn name_of(info: &KernelInfo) -> String {
    let types: Vec<_> = info.generics.iter().map(|(_, cuda)| *cuda).collect();
    match types[..] {
        [] => info.name.to_owned(),
        _ => format!("{}<{}>", info.name, types.join(", ")),
    }
}

/// Returns the outcome for `kernels`, which NVRTC of this version has compiled for the compute capabilities in `compiled`. If
/// `compiled` is empty, nothing was compiled and the test is skipped.
fn concluded(
    kernels: &str,
    (major, minor): (u32, u32),
    compiled: &[(u32, u32)],
) -> Result<Outcome> {
    let list = |targets: &[(u32, u32)]| {
        let each = targets.iter().map(|(major, minor)| format!("{major}.{minor}"));
        each.collect::<Vec<_>>().join(", ")
    };
    let compiler = format!("NVRTC {major}.{minor}");
    if compiled.is_empty() {
        let known = list(&COMPUTE_CAPABILITIES);
        let what = format!("{compiler} compiles for none of the compute capabilities {known}");
        let remedy = format!(
            "take another NVRTC, or compile {kernels} with `kernel::compile_for` for one that it supports"
        );
        return Outcome::without(
            DriverError::Unavailable { what, remedy }.into(),
            "STREAMFLOW_REQUIRE_NVRTC",
        );
    }
    Ok(Outcome::Passed(format!("{compiler} compiled {kernels} for {}", list(compiled))))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn a_generic_kernel_without_instances_is_listed() {
        let kernels = [Registered::generic("cast", "src/main.rs", 7)];
        let text = left_out(&kernels);
        assert!(text.contains("not compiled") && text.contains("`cast` (src/main.rs:7)"), "{text}");
        assert_eq!(left_out(&[]), "");
    }

    #[test]
    fn a_kernel_that_was_compiled_for_nothing_has_not_passed() {
        // With `STREAMFLOW_REQUIRE_NVRTC=1` the skipped test is an error.
        match concluded("`add`", (19, 0), &[]) {
            Ok(outcome) => {
                let Outcome::Skipped(reason) = outcome else { unreachable!("{outcome}") };
                assert!(reason.contains("NVRTC 19.0"), "{reason}");
                assert!(reason.contains("7.5, 8.0, 9.0, 10.0"), "{reason}");
            }
            Err(error) => assert!(error.to_string().contains("NVRTC 19.0"), "{error}"),
        }
        let passed = concluded("`add`", (13, 0), &[(9, 0), (10, 0)]).unwrap();
        let text = "NVRTC 13.0 compiled `add` for 9.0, 10.0";
        assert_eq!(passed, Outcome::Passed(text.to_owned()));
    }
}
