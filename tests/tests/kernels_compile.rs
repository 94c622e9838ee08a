//! Every CUDA kernel of the repository compiles for Turing, Ampere, Hopper and Blackwell. The tests need NVRTC, and no GPU. Without
//! NVRTC they are reported as skipped, unless `STREAMFLOW_REQUIRE_NVRTC=1`.
#![allow(missing_docs, reason = "a test binary")]

use std::process::ExitCode;

use streamflow::f16;
use streamflow::kernel::{KERNELS, KernelInfo};
use streamflow::prelude::*;
use streamflow::testing::{self, Outcome, compile_kernel};
// Cargo links the package, whose kernels are then in the list.
use streamflow_examples as _;
use streamflow_tests::{Failed, Suite, check, check_error, check_text};

const REQUIRE: &str = "STREAMFLOW_REQUIRE_NVRTC";

fn main() -> ExitCode {
    Suite::new()
        .plain("the_list_has_the_kernels_of_each_crate", of_each_crate)
        .optional("a_typing_error_is_reported_at_its_line", REQUIRE, || {
            typing_error(compile_kernel::<mistyped>())
        })
        .optional("all_kernels_compile_but_the_one_with_a_typing_error", REQUIRE, || {
            typing_error(testing::kernels())
        })
        .optional("an_instance_of_a_generic_kernel_compiles", REQUIRE, || {
            Ok(skipped(compile_kernel::<cast<f32>>()?).or(skipped(compile_kernel::<cast<f16>>()?)))
        })
        .run()
}

/// The name of a kernel with its types.
fn name(kernel: &KernelInfo) -> String {
    let types: String = kernel.generics.iter().map(|(_, cuda)| format!("<{cuda}>")).collect();
    format!("{}{types}", kernel.name)
}

/// Kernels of this file, of the packages of tests and examples, and of the library, in modules that may be private.
fn of_each_crate() -> Result<(), Failed> {
    let named =
        KERNELS.iter().map(|kernel| kernel.info.as_ref().map_or(kernel.name.to_owned(), name));
    let named: Vec<String> = named.collect();
    for kernel in [
        "copy<float>",
        "copy<half>",
        "pair<unsigned char><float>",
        "pair<float><unsigned char>",
        "mistyped",
        "cast",
        "sobel_x",
        "negate",
        "axpy<complex<double>>",
        "scale_view<nv_bfloat16>",
        "convolve_2d",
        "resample<complex<float>>",
        "random_u32",
        "leading_columns<double>",
    ] {
        let found = named.iter().filter(|name| *name == kernel).count();
        check(found == 1, || format!("{found} times `{kernel}` in {named:?}"))?;
    }
    let hidden = ["not_here", "copy<double>"];
    check(hidden.iter().all(|name| !named.iter().any(|other| other == name)), || {
        format!("{named:?}")
    })?;
    // Of no other generic kernel an instance is missing.
    let generic = KERNELS.iter().filter(|kernel| kernel.info.is_none());
    let generic: Vec<_> = generic.map(|kernel| (kernel.name, kernel.line)).collect();
    check(generic == [("cast", CAST_LINE)], || format!("{generic:?}"))
}

/// out[i] = from[i]
#[kernel(instances(f32, f16), requires(out.len() == from.len()), unsafe cuda = "
    unsigned long long i = thread_index();
    if (i < out_len) out[i] = from[i];
")]
fn copy<T: Element>(out: &mut [T], from: &[T]) {
    out.copy_from_slice(from);
}

const CAST_LINE: u32 = line!() + 2;
/// No instance of it is named.
#[kernel(requires(out.len() == from.len()), unsafe cuda = "
    unsigned long long i = thread_index();
    if (i < out_len) out[i] = from[i];
")]
fn cast<T: Element>(out: &mut [T], from: &[T]) {
    out.copy_from_slice(from);
}

/// Two types for each instance.
#[kernel(instances((u8, f32), (f32, u8)), requires(a.len() == b.len()), unsafe cuda = "
    unsigned long long i = thread_index();
    if (i < a_len) a[i] = A(1), b[i] = B(2);
")]
fn pair<A: Element, B: Element>(a: &mut [A], b: &mut [B]) {
    let _ = (a, b);
}

/// The list has the attributes of a kernel.
#[cfg(any())]
#[kernel(unsafe cuda = "nothing")]
fn not_here(out: &mut [f32]) {}

const LINE: u32 = line!() + 3;
/// Its CUDA body has a typing error.
#[kernel(unsafe cuda = "
    unsigned long long i = thread_indx();
    if (i < out_len) out[i] = value;
")]
fn mistyped(out: &mut [f32], value: f32) {
    out.fill(value);
}

fn typing_error(compiled: Result<Outcome, Error>) -> Result<Option<String>, Failed> {
    if let Ok(outcome @ Outcome::Skipped(_)) = compiled {
        return Ok(skipped(outcome));
    }
    let text = check_error("the compilation", compiled, |error| matches!(error, Error::Driver(_)))?;
    check_text(
        &text,
        &["kernel `mistyped` cannot", "thread_indx", &format!("kernels_compile.rs:{LINE}")],
    )?;
    Ok(None)
}

fn skipped(outcome: Outcome) -> Option<String> {
    match outcome {
        Outcome::Passed(_) => None,
        Outcome::Skipped(reason) => Some(reason),
    }
}
