//! Every CUDA kernel of the repository compiles for Turing, Ampere, Hopper and Blackwell. The tests need NVRTC, and no GPU. Without
//! NVRTC they are reported as skipped, unless `STREAMFLOW_REQUIRE_NVRTC=1`.

use std::ops::Mul;

use streamflow::__private::{KernelInfo, kernels};
use streamflow::f16;
use streamflow::kernel::{CompiledCode, Kernel, compile_for};
use streamflow::prelude::*;
use streamflow::testing::{self, Outcome};
// This use links the package, so that its kernels are in the list.
use streamflow_examples as _;
use streamflow_tests::setup::stream;
use streamflow_tests::{
    Failed, Suite, check, check_equal, check_error, check_text, kernels_without_warnings,
};

const REQUIRE: &str = "STREAMFLOW_REQUIRE_NVRTC";

pub(crate) fn suite() -> Suite {
    Suite::new()
        .plain("the_list_has_the_kernels_of_each_crate", of_each_crate)
        .both("an_instance_that_is_launched_is_in_the_list", launched)
        .optional("a_typing_error_is_reported_at_its_line", REQUIRE, || {
            typing_error(compiled::<mistyped>())
        })
        .optional("all_kernels_compile_but_the_one_with_a_typing_error", REQUIRE, || {
            typing_error(testing::kernels())
        })
        .optional("no_kernel_has_a_warning_of_the_compiler", REQUIRE, kernels_without_warnings)
        .optional("an_instance_of_a_generic_kernel_compiles", REQUIRE, || {
            Ok(skipped(compiled::<cast<f32>>()?).or(skipped(compiled::<cast<f16>>()?)))
        })
}

/// Compiles the kernel `K` for Hopper, or says why NVRTC can't be used.
fn compiled<K: Kernel>() -> Result<Outcome, Error> {
    if let Err(missing) = CompiledCode::compiler_version() {
        return Ok(Outcome::Skipped(missing.to_string()));
    }
    compile_for(K::INFO, (9, 0))?;
    Ok(Outcome::Passed(K::INFO.name.to_owned()))
}

/// Returns the name of a kernel with the CUDA names of its types.
fn name(kernel: &KernelInfo) -> String {
    let types: String = kernel.generics.iter().map(|(_, cuda)| format!("<{cuda}>")).collect();
    format!("{}{types}", kernel.name)
}

/// Checks that the list has the kernels of this file, of the packages of tests and examples, and of the library,
/// including those in private modules.
fn of_each_crate() -> Result<(), Failed> {
    let all = kernels();
    let named = all.iter().map(|kernel| kernel.info.as_ref().map_or(kernel.name.to_owned(), name));
    let named: Vec<String> = named.collect();
    for kernel in [
        "copy<float>",
        "copy<half>",
        "pair<unsigned char><float>",
        "pair<float><unsigned char>",
        "mistyped",
        "cast",
        "compress",
        "negate",
        "axpy<complex<double>>",
        "scale_view<nv_bfloat16>",
        "convolve_2d",
        "resample<complex<float>>",
        "random_u32",
        "filter<complex<float>><float>",
        "thin",
        "leading_columns<double>",
        // Launched only by an operator of a graph that is never made, and by a test that may run later.
        "times<float>",
        "times<int>",
    ] {
        let found = named.iter().filter(|name| *name == kernel).count();
        check(found == 1, || format!("{found} times `{kernel}` in {named:?}"))?;
    }
    let hidden = ["not_here", "copy<double>", "times<double>", "times"];
    check(hidden.iter().all(|name| !named.iter().any(|other| other == name)), || {
        format!("{named:?}")
    })?;
    // `cast` is the only generic kernel without an instance, since nothing launches it. Those of images have the instances that a
    // program launches, and the binary `vision` compiles those of its tests.
    let generic = all.iter().filter(|kernel| kernel.info.is_none());
    let generic = generic.filter(|kernel| !kernel.file.starts_with("crates/streamflow-vision/"));
    let generic: Vec<_> = generic.map(|kernel| (kernel.name, kernel.line)).collect();
    check(generic == [("cast", CAST_LINE)], || format!("{generic:?}"))
}

fn launched(platform: &Platform) -> Result<(), Failed> {
    let s = stream(platform)?;
    let (mut out, mut from) = (platform.buffer::<i32>(3, &s)?, platform.buffer::<i32>(3, &s)?);
    s.upload_blocking(&[1, 2, 3], &mut from)?;
    s.launch::<times<i32>>(3, (&mut out, &from, 5))?;
    check_equal(s.download_blocking(&out)?, vec![5, 10, 15])
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
/// A generic kernel of which no instance is listed or launched.
#[kernel(requires(out.len() == from.len()), unsafe cuda = "
    unsigned long long i = thread_index();
    if (i < out_len) out[i] = from[i];
")]
fn cast<T: Element>(out: &mut [T], from: &[T]) {
    out.copy_from_slice(from);
}

/// A kernel with two generic types in each instance.
#[kernel(instances((u8, f32), (f32, u8)), requires(a.len() == b.len()), unsafe cuda = "
    unsigned long long i = thread_index();
    if (i < a_len) a[i] = A(1), b[i] = B(2);
")]
fn pair<A: Element, B: Element>(a: &mut [A], b: &mut [B]) {
    let _ = (a, b);
}

/// A kernel that `#[cfg]` removes, and that must not be in the list.
#[cfg(any())]
#[kernel(unsafe cuda = "nothing")]
fn not_here(out: &mut [f32]) {}

/// A generic kernel without listed instances. Its instances are those that the program launches.
#[kernel(requires(out.len() == from.len()), unsafe cuda = "
    unsigned long long i = thread_index();
    if (i < out_len) out[i] = from[i] * by;
")]
fn times<T: Element + Mul<Output = T>>(out: &mut [T], from: &[T], by: T) {
    for (out, from) in out.iter_mut().zip(from) {
        *out = *from * by;
    }
}

#[operator(streams(fill))]
struct Ones {
    #[output]
    ones: Tensor<f32>,
}

impl Compute for Ones {
    fn compute(&mut self, io: OnesIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let stream = cx.allocate_cuda_stream(io.fill)?;
        io.ones.set_cuda_stream(&stream).emit(cx.tensor([4], &stream)?)
    }
}

#[operator]
struct Scale<T: Element + Mul<Output = T>> {
    #[input]
    from: &Tensor<T>,
    #[output]
    scaled: Tensor<T>,
    by: T,
}

impl<T: Element + Mul<Output = T>> Compute for Scale<T> {
    fn compute(&mut self, io: ScaleIo<'_, T>, cx: &ExecutionContext) -> Result<()> {
        let (from, stream) = io.from.receive().receive_cuda_stream(cx)?;
        let mut scaled = cx.tensor(from.shape(), &stream)?;
        stream.launch::<times<T>>(from.len(), (&mut scaled, from, self.by))?;
        io.scaled.emit(scaled)
    }
}

graph! {
    /// A graph that is never made. Its operator launches `times<f32>`.
    struct Unused {
        #[when(count(1))] let ones: Ones = Ones::new();
        let scale: Scale<f32> = Scale::new(2.0);
        ones.ones >> scale.from;
        scale.scaled >> _;
    }
}

/// A function that is never called.
#[expect(dead_code, reason = "no code of the program launches this instance")]
fn uncalled(stream: &CudaStream, data: &mut Tensor<f64>, from: &Tensor<f64>) -> Result<()> {
    Ok(stream.launch::<times<f64>>(from.len(), (data, from, 2.0))?)
}

const LINE: u32 = line!() + 3;
/// A kernel with a misspelt function in its CUDA body.
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
