//! Every CUDA kernel of the repository compiles for each of `ARCHITECTURES`. The tests need NVRTC, and no GPU. Without
//! NVRTC they are reported as skipped, unless `STREAMFLOW_REQUIRE_NVRTC=1`.
#![allow(missing_docs, reason = "a test binary")]

use std::process::ExitCode;

use streamflow::kernel::{KernelInfo, compile_checked_for, compile_for, nvrtc_version};
use streamflow_tests::{Failed, Suite, check};

/// sm_75, sm_80, sm_90 and sm_100.
const ARCHITECTURES: [(u32, u32); 4] = [(7, 5), (8, 0), (9, 0), (10, 0)];

fn main() -> ExitCode {
    let kernels =
        streamflow_examples::kernels().into_iter().chain(streamflow_tests::kernels::kernels());
    let suite = kernels.fold(Suite::new(), |suite, kernel| {
        let types: String = kernel.generics.iter().map(|(_, cuda)| format!("<{cuda}>")).collect();
        let name = format!("{}{types}_compiles", kernel.name);
        suite.optional(&name, "STREAMFLOW_REQUIRE_NVRTC", move || compiles(kernel))
    });
    suite.run()
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
