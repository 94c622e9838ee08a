//! Every CUDA kernel of the repository compiles for each of `ARCHITECTURES`. The tests need NVRTC, and no GPU. Without
//! NVRTC they are reported as skipped, unless `STREAMFLOW_REQUIRE_NVRTC=1`.
#![allow(missing_docs, reason = "a test binary")]

use std::process::ExitCode;

use streamflow::f16;
use streamflow::kernel::{KernelInfo, compile_checked_for, compile_for, nvrtc_version};
use streamflow::prelude::*;
use streamflow::testing::{Outcome, compile_kernel};
use streamflow_tests::{Failed, Suite, check, check_error, check_text};

/// sm_75, sm_80, sm_90 and sm_100.
const ARCHITECTURES: [(u32, u32); 4] = [(7, 5), (8, 0), (9, 0), (10, 0)];

const REQUIRE: &str = "STREAMFLOW_REQUIRE_NVRTC";

fn main() -> ExitCode {
    let kernels = streamflow_examples::kernels()
        .into_iter()
        .chain(streamflow_tests::kernels::kernels())
        .chain(streamflow::library::fft::kernels())
        .chain(streamflow::library::random::kernels())
        .chain(streamflow::library::solve::kernels())
        .chain(streamflow::operators::kernels());
    let suite = kernels.fold(Suite::new(), |suite, kernel| {
        let types: String = kernel.generics.iter().map(|(_, cuda)| format!("<{cuda}>")).collect();
        let name = format!("{}{types}_compiles", kernel.name);
        suite.optional(&name, REQUIRE, move || compiles(kernel))
    });
    suite
        .optional("a_typing_error_is_reported_at_its_line", REQUIRE, typing_error)
        .optional("an_instance_of_a_generic_kernel_compiles", REQUIRE, || {
            Ok(skipped(compile_kernel::<copy<f32>>()?).or(skipped(compile_kernel::<copy<f16>>()?)))
        })
        .run()
}

/// out[i] = from[i]
#[kernel(requires(out.len() == from.len()), unsafe cuda = "
    unsigned long long i = thread_index();
    if (i < out_len) out[i] = from[i];
")]
fn copy<T: Element>(out: &mut [T], from: &[T]) {
    out.copy_from_slice(from);
}

const LINE: u32 = line!() + 3;
/// Its CUDA body has a typing error.
#[kernel(unsafe cuda = "
    unsigned long long i = thread_indx();
    if (i < out_len) out[i] = value;
")]
fn mistyped(out: &mut [f32], value: f32) {
    out.fill(value);
}

fn typing_error() -> Result<Option<String>, Failed> {
    let compiled = compile_kernel::<mistyped>();
    if let Ok(outcome @ Outcome::Skipped(_)) = compiled {
        return Ok(skipped(outcome));
    }
    let text = check_error("the compilation", compiled, |error| matches!(error, Error::Driver(_)))?;
    check_text(&text, &["`mistyped`", "thread_indx", &format!("kernels_compile.rs:{LINE}")])?;
    Ok(None)
}

fn skipped(outcome: Outcome) -> Option<String> {
    match outcome {
        Outcome::Passed(_) => None,
        Outcome::Skipped(reason) => Some(reason),
    }
}

fn compiles(kernel: &KernelInfo) -> Result<Option<String>, Failed> {
    if let Err(missing) = nvrtc_version() {
        return Ok(Some(missing.to_string()));
    }
    for target in ARCHITECTURES {
        for image in [compile_for(kernel, target)?, compile_checked_for(kernel, target)?] {
            check(!image.0.is_empty(), || format!("no code for {target:?}"))?;
        }
    }
    Ok(None)
}
