//! The Rust body and the CUDA body of every kernel that has two compute the same on random input. The comparison needs a GPU.
//! Without one the Rust bodies alone run, and the tests are reported as skipped, unless `STREAMFLOW_REQUIRE_CUDA=1`.
//!
//! Controls: kernels with bodies that differ on purpose. A GPU must show the difference.

mod controls;
mod examples;
mod of_libraries;
mod of_signals;
mod of_solvers;
mod of_tests;

use streamflow::__private::{CudaBody, KERNELS, KernelInfo, Registered};
use streamflow::kernel::Kernel;
use streamflow::prelude::*;
use streamflow::testing::{Draw, KernelValues, Outcome, Tolerance, compare_bodies};
use streamflow_tests::kernels::{multiprocessor, trap, write_past_the_end, write_to_nowhere};
use streamflow_tests::{Failed, Suite, check};

/// The variable that makes a missing GPU a failure. For a missing NVRTC it is `STREAMFLOW_REQUIRE_NVRTC=1`, which
/// `compare_bodies` reads.
const REQUIRE: &str = "STREAMFLOW_REQUIRE_CUDA";

/// Kernels that are not compared: they break the device, write where they must not, or give another result on
/// each device.
const OTHERS: [&KernelInfo; 4] =
    [trap::INFO, write_to_nowhere::INFO, write_past_the_end::INFO, multiprocessor::INFO];

pub(crate) fn suite() -> Suite {
    let bodies = of_solvers::add(of_signals::add(of_libraries::add(of_tests::add(examples::add(
        Bodies::default(),
    )))));
    let compared = bodies.compared;
    controls::add(bodies.suite).plain("every_kernel_is_compared", move || complete(&compared))
}

/// The tests that compare the bodies of kernels.
#[derive(Default)]
struct Bodies {
    suite: Suite,
    compared: Vec<String>,
}

impl Bodies {
    /// Adds a test that compares the two bodies of the kernel `K`.
    fn same<K: KernelValues>(
        mut self,
        tolerance: Tolerance,
        arguments: impl Fn(&mut Draw) -> (Grid, K::Values) + Send + 'static,
    ) -> Self {
        let name = name(K::INFO);
        let test = move || Ok(skipped(compare_bodies::<K>(tolerance, arguments)?));
        self.suite = self.suite.optional(&format!("{name}_is_the_same"), REQUIRE, test);
        self.compared.push(name);
        self
    }
}

/// Returns the reason why a test was skipped.
fn skipped(outcome: Outcome) -> Option<String> {
    match outcome {
        Outcome::Passed(_) => None,
        Outcome::Skipped(reason) => Some(reason),
    }
}

/// Returns the name of a kernel with its types. Kernels of two crates may have the same name.
fn name(info: &KernelInfo) -> String {
    let types: String = info.generics.iter().map(|(_, cuda)| format!("<{cuda}>")).collect();
    format!("{}{types}", info.name)
}

fn complete(compared: &[String]) -> Result<(), Failed> {
    let others = OTHERS.map(name);
    // The controls, and the other suite of this binary, have kernels of their own, which are in no library. The suites of `vision`
    // compare both bodies of the kernels of images with the same references.
    let is_own = |file: &str| {
        file.starts_with("crates/streamflow-vision/")
            || ["controls.rs", "convert.cu", "kernels_compile.rs"]
                .iter()
                .any(|own| file.ends_with(own))
    };
    let has_two = |kernel: &Registered| {
        !kernel.info.is_some_and(|info| matches!(info.cuda, CudaBody::Made(_)))
    };
    let of_libraries =
        KERNELS.iter().copied().flatten().filter(|kernel| !is_own(kernel.file) && has_two(kernel));
    let all = of_libraries.map(|kernel| kernel.info.as_ref().map_or(kernel.name.to_owned(), name));
    let missing: Vec<String> =
        all.filter(|name| !compared.contains(name) && !others.contains(name)).collect();
    check(missing.is_empty(), || format!("not compared: {missing:?}"))
}
