//! The compiler's warnings about kernels.

use std::collections::HashSet;

use streamflow::__private::kernels;
use streamflow::kernel::{CompiledCode, Kernel, compile_for};
use streamflow::prelude::*;

use crate::kernels::warned;
use crate::{Failed, check, logged};

/// Compiles the kernels of the program for Hopper, of each name one, and fails if the compiler warns. A program logs a warning when it
/// first launches the kernel, and the warnings of a text that streamflow makes are not the user's to mend. Other tests check that
/// kernels compile. Returns the reason why the test was skipped.
pub fn kernels_without_warnings() -> Result<Option<String>, Failed> {
    if let Err(missing) = CompiledCode::compiler_version() {
        return Ok(Some(missing.to_string()));
    }
    // The control: a body with a warning.
    let (control, lines) = logged(|| compile_for(warned::INFO, (9, 0)));
    control?;
    check(lines.iter().any(|line| line.contains("never referenced")), || format!("{lines:?}"))?;
    let all = kernels().into_iter().filter_map(|kernel| kernel.info);
    let mut warnings = Vec::new();
    let mut names = HashSet::from([warned::INFO.name]);
    for kernel in all.filter(|kernel| names.insert(kernel.name)) {
        warnings.extend(logged(|| compile_for(&kernel, (9, 0))).1);
    }
    check(warnings.is_empty(), || warnings.join("\n"))?;
    Ok(None)
}
