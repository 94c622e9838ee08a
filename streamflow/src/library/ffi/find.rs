//! The search for NVIDIA's libraries on disk.

use std::env;
use std::path::{Path, PathBuf};

use libloading::Library;

use crate::driver::{DriverError, DriverResult};
use crate::kernel::find::{directories, newest};
use crate::log;

/// The directory that is searched before all others, and then alone.
const DIRECTORY: &str = "STREAMFLOW_LIBRARY_DIR";

/// A shared library, as its users name it and as it is on disk.
#[derive(Debug, Clone, Copy)]
pub(in crate::library) struct Wanted {
    /// `cuFFT`.
    pub(in crate::library) name: &'static str,
    /// `libcufft.so`.
    pub(in crate::library) file: &'static str,
    /// The major versions of the file that are tried by name, the newest first.
    pub(in crate::library) versions: &'static [u32],
    /// The wheel that has it, as `nvidia-cufft`.
    pub(in crate::library) wheel: &'static str,
}

/// Loads a library, which is never unloaded, and returns its path.
///
/// # Errors
/// [`DriverError::Unavailable`], with the places that were searched.
pub(super) fn load(wanted: &Wanted) -> DriverResult<(&'static Library, PathBuf)> {
    let explicit = env::var_os(DIRECTORY).filter(|dir| !dir.is_empty());
    let paths = match &explicit {
        Some(dir) => newest(Path::new(dir), wanted.file).into_iter().collect(),
        None => candidates(wanted),
    };
    let mut tried = Vec::new();
    for path in paths {
        // SAFETY: a library of NVIDIA of this name; its initialisers have no preconditions.
        match unsafe { Library::new(&path) } {
            Ok(library) => {
                let (name, found) = (wanted.name, path.clone());
                log::write(move || tracing::info!(library = %found.display(), "{name}"));
                return Ok((Box::leak(Box::new(library)), path));
            }
            Err(error) => {
                let cause = std::error::Error::source(&error).map(ToString::to_string);
                tried.push(format!(
                    "{}: {}",
                    path.display(),
                    cause.unwrap_or_else(|| error.to_string())
                ));
            }
        }
    }
    let place = match explicit {
        Some(dir) if tried.is_empty() => {
            format!("{DIRECTORY} is {}, which holds no {}", dir.display(), wanted.file)
        }
        _ => tried.join("; "),
    };
    Err(DriverError::Unavailable {
        what: format!("{} was not found ({place})", wanted.name),
        remedy: format!(
            "install the CUDA toolkit, or `pip install {}` into the active virtual environment, or set {DIRECTORY} to \
             the directory of {}; on the simulator no library is needed",
            wanted.wheel, wanted.file
        ),
    })
}

/// The files on disk, and then the names for the system's loader.
fn candidates(wanted: &Wanted) -> Vec<PathBuf> {
    let on_disk = directories().into_iter().filter_map(|dir| newest(&dir, wanted.file));
    let named = wanted.versions.iter().map(|version| format!("{}.{version}", wanted.file));
    on_disk.chain(named.map(PathBuf::from)).chain([PathBuf::from(wanted.file)]).collect()
}

/// The error of a library that has no such function.
#[cold]
pub(super) fn missing(wanted: &Wanted, path: &Path, symbol: &str) -> DriverError {
    DriverError::Unavailable {
        what: format!("{} at {} has no function `{symbol}`", wanted.name, path.display()),
        remedy: format!("install a newer {}, as by `pip install -U {}`", wanted.name, wanted.wheel),
    }
}
