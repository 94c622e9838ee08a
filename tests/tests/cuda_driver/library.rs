//! The library of the tests that takes the place of `libcuda`, and variants of it.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use streamflow_tests::{Failed, check};

/// The file name that cudarc looks for first.
const LIBCUDA: &str = "libcuda.so";

/// The file that takes the place of `libcuda`, and the one that takes the place of NVIDIA's other libraries.
const FILES: [&str; 2] = ["libstreamflow_fake_cuda.so", LIBRARIES];
pub(crate) const LIBRARIES: &str = "libstreamflow_fake_libraries.so";

/// Returns where Cargo has put the library: beside the test binary.
fn path() -> Option<PathBuf> {
    beside(FILES[0])
}

/// Returns the path of a file beside the test binary.
pub(crate) fn beside(file: &str) -> Option<PathBuf> {
    let binary = env::current_exe().ok()?;
    Some(binary.parent()?.join(file))
}

/// Returns why the tests can't run. Under Cargo the library is always built, so its absence is then a failure of
/// the tests.
pub(crate) fn missing() -> Option<String> {
    if env::var_os("CARGO_MANIFEST_DIR").is_some() {
        return None;
    }
    let missing = FILES.iter().filter_map(|file| beside(file)).find(|path| !path.exists())?;
    Some(format!("{} is missing: copy it with the test binary", missing.display()))
}

/// Copies the library into a folder, under the name of CUDA's library.
pub(crate) fn install(folder: &Path) -> Result<(), Failed> {
    install_without(folder, None)
}

/// As [`install`], without one function.
///
/// The name of its symbol is changed. A lookup compares names, and no other one has the hash of the first.
pub(crate) fn install_without(folder: &Path, function: Option<&str>) -> Result<(), Failed> {
    let path = path().ok_or_else(|| Failed::msg("no path"))?;
    let mut bytes = fs::read(&path).map_err(|error| Failed::msg(format!("{path:?}: {error}")))?;
    if let Some(function) = function {
        let symbol = [b"\0", function.as_bytes(), b"\0"].concat();
        let mut found = 0;
        while let Some(at) = bytes.windows(symbol.len()).position(|part| part == symbol) {
            bytes[at + 1] = b'x';
            found += 1;
        }
        check(found > 0, || format!("the library has no symbol {function}"))?;
    }
    fs::create_dir_all(folder)?;
    Ok(fs::write(folder.join(LIBCUDA), bytes)?)
}
