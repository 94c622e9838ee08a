//! The project that the server analyses.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};
use streamflow_tests::Failed;

type Result<T> = std::result::Result<T, Failed>;

/// Describes the project for the server: this program, the library, and the macros as built for this test, so
/// that the server builds nothing.
pub(crate) fn describe(directory: &Path) -> Result<Value> {
    let ours = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize()?;
    let root = |package: &str| ours.join(package).join("src/lib.rs");
    Ok(json!({
        "sysroot": sysroot()?,
        "crates": [
            {
                "root_module": root("streamflow-macros"),
                "display_name": "streamflow_macros",
                "edition": "2024",
                "deps": [],
                "is_proc_macro": true,
                "proc_macro_dylib_path": macros()?,
            },
            {
                "root_module": root("crates/streamflow-driver"),
                "display_name": "streamflow_driver",
                "edition": "2024",
                "deps": [],
            },
            {
                "root_module": root("streamflow"),
                "display_name": "streamflow",
                "edition": "2024",
                "deps": [
                    { "crate": 0, "name": "streamflow_macros" },
                    { "crate": 1, "name": "streamflow_driver" },
                ],
            },
            {
                "root_module": directory.join("main.rs"),
                "display_name": "program",
                "edition": "2024",
                "deps": [{ "crate": 2, "name": "streamflow" }],
            },
        ],
    }))
}

/// Returns the newest library of the macros in this test's directory.
fn macros() -> Result<PathBuf> {
    let test = env::current_exe()?;
    let deps = test.parent().ok_or_else(|| Failed::msg("a test without a directory"))?;
    let mut found: Vec<(std::time::SystemTime, PathBuf)> = Vec::new();
    for entry in fs::read_dir(deps)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.contains("streamflow_macros-") && name.ends_with(env::consts::DLL_SUFFIX) {
            found.push((entry.metadata()?.modified()?, entry.path()));
        }
    }
    found.sort();
    Ok(found.pop().ok_or_else(|| Failed::msg("the macros' library is not beside this test"))?.1)
}

fn sysroot() -> Result<PathBuf> {
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(rustc).args(["--print", "sysroot"]).output()?;
    Ok(PathBuf::from(String::from_utf8(output.stdout)?.trim()))
}

/// Returns the path of the program that expands the macros. The program must belong to the compiler that built
/// them.
pub(crate) fn macro_server() -> Result<PathBuf> {
    Ok(sysroot()?.join("libexec/rust-analyzer-proc-macro-srv"))
}
