//! Loads shared libraries while the program runs.

use std::env;
use std::path::{Path, PathBuf};

use libloading::Library;

use crate::driver::{DriverError, DriverResult};
use crate::kernel::find::{directories, newest};
use crate::log;

/// The environment variable with the directory to search. If it is set, no other directory is searched.
const DIRECTORY: &str = "STREAMFLOW_LIBRARY_DIR";

/// A loaded shared library. Dropping it unloads the library, unless other code of the process has loaded the same library. A
/// program that stores the library's functions in a `static` must never drop it, and can ensure that by `Box::leak`.
#[derive(Debug)]
pub struct SharedLibrary {
    name: &'static str,
    wheel: &'static str,
    library: Library,
    path: PathBuf,
}

impl SharedLibrary {
    /// Loads a library. If `STREAMFLOW_LIBRARY_DIR` is set, the library is loaded from that directory. Else it is loaded from a
    /// CUDA toolkit, from a wheel of the Python environment that has this code or of the active one, or by the system's loader.
    ///
    /// - `name` is for messages, as `cuFFT`.
    /// - `file` is the library's file without a version, as `libcufft.so`.
    /// - `versions` are the major versions of the file that are tried by name, the newest first.
    /// - `wheel` is the Python wheel that contains the library, as `nvidia-cufft`. Error texts propose to `pip install` it.
    ///
    /// # Errors
    /// [`DriverError::Unavailable`], with the directories and names that were tried.
    ///
    /// # Safety
    /// Loading runs the library's initialisers, and the drop runs its termination routines. Neither may have preconditions.
    pub unsafe fn load(
        name: &'static str,
        file: &str,
        versions: &[u32],
        wheel: &'static str,
    ) -> DriverResult<Self> {
        let explicit = env::var_os(DIRECTORY).filter(|dir| !dir.is_empty());
        let paths = match &explicit {
            Some(dir) => newest(Path::new(dir), file).into_iter().collect(),
            None => candidates(file, versions),
        };
        let mut tried = Vec::new();
        for path in paths {
            // SAFETY: the caller guarantees that the library's initialisers may run.
            match unsafe { Library::new(&path) } {
                Ok(library) => {
                    let found = path.clone();
                    log::write(move || tracing::info!(library = %found.display(), "{name}"));
                    return Ok(Self { name, wheel, library, path });
                }
                Err(error) => {
                    let cause = std::error::Error::source(&error).map(ToString::to_string);
                    let cause = cause.unwrap_or_else(|| error.to_string());
                    tried.push(format!("{}: {cause}", path.display()));
                }
            }
        }
        let place = match explicit {
            Some(dir) if tried.is_empty() => {
                format!("{DIRECTORY} is {}, which holds no {file}", dir.display())
            }
            _ => tried.join("; "),
        };
        Err(DriverError::Unavailable {
            what: format!("{name} was not found ({place})"),
            remedy: format!(
                "install the CUDA toolkit, or `pip install {wheel}` into the active virtual environment, or set {DIRECTORY} to \
                 the directory of {file}; on the simulator no library is needed"
            ),
        })
    }

    /// Returns a function of the library.
    ///
    /// # Errors
    /// [`DriverError::Unavailable`] if the library has no function of this name.
    ///
    /// # Safety
    /// `F` is the type of the function, as the library's header declares it. The result does not borrow the library, but dropping
    /// the library unloads the function's code. So the library is dropped only after the last call of the function, after the end
    /// of all objects that its functions have made, and after all work that they have queued.
    pub unsafe fn function<F: Copy>(&self, name: &str) -> DriverResult<F> {
        // SAFETY: the caller guarantees that `F` is the function's type.
        let found = unsafe { self.library.get::<F>(name.as_bytes()) };
        found.map(|function| *function).map_err(|_| self.missing(name))
    }

    #[cold]
    fn missing(&self, function: &str) -> DriverError {
        let Self { name, wheel, .. } = self;
        DriverError::Unavailable {
            what: format!("{name} at {} has no function `{function}`", self.path.display()),
            remedy: format!("install a newer {name}, as by `pip install -U {wheel}`"),
        }
    }
}

/// Returns the paths and names to try, in this order: files that were found in directories, and then names for the system's
/// loader.
fn candidates(file: &str, versions: &[u32]) -> Vec<PathBuf> {
    let on_disk = directories().into_iter().filter_map(|dir| newest(&dir, file));
    let named = versions.iter().map(|version| format!("{file}.{version}"));
    on_disk.chain(named.map(PathBuf::from)).chain([PathBuf::from(file)]).collect()
}
