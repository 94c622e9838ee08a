//! NVRTC, loaded when the first kernel is compiled.
//!
//! The dozen functions that streamflow uses have had the same signatures since CUDA 11.2. So every later NVRTC works, whichever
//! CUDA version the driver bindings were chosen for.

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::path::Path;
use std::sync::OnceLock;

use libloading::Library;

use crate::driver::{DriverError, DriverResult};

use super::find::{self, Found};
use crate::log;

type Program = *mut c_void;

macro_rules! symbols {
    ($($field:ident = $symbol:literal: fn($($arg:ty),*) -> $ret:ty;)*) => {
        struct Symbols {
            $($field: unsafe extern "C" fn($($arg),*) -> $ret,)*
        }

        impl Symbols {
            /// # Safety
            /// The library is NVRTC, and is never unloaded.
            unsafe fn load(library: &Library) -> Result<Self, libloading::Error> {
                Ok(Self {
                    // SAFETY: the signatures are those of `nvrtc.h`.
                    $($field: unsafe { *library.get($symbol)? },)*
                })
            }
        }
    };
}

symbols! {
    version = "nvrtcVersion": fn(*mut c_int, *mut c_int) -> c_int;
    architecture_count = "nvrtcGetNumSupportedArchs": fn(*mut c_int) -> c_int;
    architectures = "nvrtcGetSupportedArchs": fn(*mut c_int) -> c_int;
    error_string = "nvrtcGetErrorString": fn(c_int) -> *const c_char;
    create = "nvrtcCreateProgram": fn(
        *mut Program, *const c_char, *const c_char, c_int, *const *const c_char, *const *const c_char
    ) -> c_int;
    destroy = "nvrtcDestroyProgram": fn(*mut Program) -> c_int;
    compile = "nvrtcCompileProgram": fn(Program, c_int, *const *const c_char) -> c_int;
    log_size = "nvrtcGetProgramLogSize": fn(Program, *mut usize) -> c_int;
    log = "nvrtcGetProgramLog": fn(Program, *mut c_char) -> c_int;
    ptx_size = "nvrtcGetPTXSize": fn(Program, *mut usize) -> c_int;
    ptx = "nvrtcGetPTX": fn(Program, *mut c_char) -> c_int;
    cubin_size = "nvrtcGetCUBINSize": fn(Program, *mut usize) -> c_int;
    cubin = "nvrtcGetCUBIN": fn(Program, *mut c_char) -> c_int;
}

/// A loaded NVRTC.
pub(super) struct Nvrtc {
    symbols: Symbols,
    /// The major and the minor version.
    pub(super) version: (i32, i32),
    /// The compute capabilities that this NVRTC compiles for, each as a number such as `90`, in ascending order.
    architectures: Vec<u32>,
}

/// The kind of code that NVRTC makes for a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Code {
    /// Machine code for this compute capability only.
    Cubin(u32),
    /// PTX for this and later compute capabilities. The CUDA driver compiles it further.
    Ptx(u32),
}

impl Code {
    /// The option of NVRTC for this kind of code.
    pub(super) fn option(self) -> String {
        match self {
            Self::Cubin(cc) => format!("--gpu-architecture=sm_{cc}"),
            Self::Ptx(cc) => format!("--gpu-architecture=compute_{cc}"),
        }
    }
}

/// The result of a compilation: the code, if the source has no errors, and the compiler's log.
pub(super) struct Compiled {
    pub(super) code: Option<Vec<u8>>,
    pub(super) log: String,
}

impl Nvrtc {
    /// Returns the process's NVRTC. The first call loads the library.
    pub(super) fn get() -> DriverResult<&'static Self> {
        static NVRTC: OnceLock<DriverResult<Nvrtc>> = OnceLock::new();
        let found = NVRTC.get().unwrap_or_else(|| {
            let _later = log::later();
            NVRTC.get_or_init(Self::find)
        });
        found.as_ref().map_err(Clone::clone)
    }

    fn find() -> DriverResult<Self> {
        let explicit = std::env::var_os("STREAMFLOW_NVRTC_DIR").filter(|dir| !dir.is_empty());
        if let Some(dir) = explicit {
            let dir = Path::new(&dir);
            let found = find::in_directory(dir).ok_or_else(|| DriverError::Unavailable {
                what: format!(
                    "STREAMFLOW_NVRTC_DIR is {}, which holds no libnvrtc.so",
                    dir.display()
                ),
                remedy: "set it to the directory of that file, or unset it".into(),
            })?;
            return Self::open(&found).map_err(|problem| DriverError::Unavailable {
                what: format!("NVRTC cannot be used: {problem}"),
                remedy: "set STREAMFLOW_NVRTC_DIR to the directory of another one, or unset it"
                    .into(),
            });
        }
        let mut tried = Vec::new();
        let on_disk = find::directories().into_iter().filter_map(|dir| find::in_directory(&dir));
        let plain =
            find::PLAIN_NAMES.iter().map(|name| Found { library: name.into(), builtins: None });
        for found in on_disk.chain(plain) {
            match Self::open(&found) {
                Ok(nvrtc) => return Ok(nvrtc),
                Err(problem) => tried.push(problem),
            }
        }
        Err(DriverError::Unavailable {
            what: format!("NVRTC, CUDA's compiler library, was not found ({})", tried.join("; ")),
            remedy: "install the CUDA toolkit, or `pip install nvidia-cuda-nvrtc` into the active \
                     virtual environment, or set STREAMFLOW_NVRTC_DIR to the directory of \
                     libnvrtc.so"
                .into(),
        })
    }

    fn open(found: &Found) -> Result<Self, String> {
        let named = |error: String| format!("{}: {error}", found.library.display());
        // The error of libloading has the loader's message only in its `source`.
        let cause = |error: libloading::Error| {
            let source = std::error::Error::source(&error).map(ToString::to_string);
            named(source.unwrap_or_else(|| error.to_string()))
        };
        if let Some(builtins) = &found.builtins {
            // SAFETY: this is NVIDIA's library, whose initialisers have no preconditions.
            match unsafe { Library::new(builtins) } {
                // The builtins library is leaked, so it stays loaded: NVRTC finds it by its name when it compiles.
                Ok(library) => std::mem::forget(library),
                Err(error) => return Err(cause(error)),
            }
        }
        // SAFETY: this is NVIDIA's library, whose initialisers have no preconditions.
        let library = unsafe { Library::new(&found.library) }.map_err(cause)?;
        // SAFETY: a library of this name is NVRTC. It is leaked below, so its functions stay valid.
        let symbols = unsafe { Symbols::load(&library) }.map_err(cause)?;
        std::mem::forget(library);

        let mut nvrtc = Self { symbols, version: (0, 0), architectures: Vec::new() };
        nvrtc.query_version().map_err(named)?;
        let (major, minor) = nvrtc.version;
        let library = found.library.clone();
        log::write(move || {
            tracing::info!(library = %library.display(), "NVRTC {major}.{minor}");
        });
        Ok(nvrtc)
    }

    /// Queries the version and the supported architectures, and stores both in `self`.
    fn query_version(&mut self) -> Result<(), String> {
        let (mut major, mut minor, mut count) = (0, 0, 0);
        // SAFETY: the pointers are valid for one integer each.
        self.check("nvrtcVersion", unsafe { (self.symbols.version)(&mut major, &mut minor) })?;
        // SAFETY: the pointer is valid for one integer.
        self.check("nvrtcGetNumSupportedArchs", unsafe {
            (self.symbols.architecture_count)(&mut count)
        })?;
        let mut architectures = vec![0; usize::try_from(count).unwrap_or(0)];
        // SAFETY: the vector has room for `count` integers, the number that `nvrtcGetNumSupportedArchs` has returned.
        self.check("nvrtcGetSupportedArchs", unsafe {
            (self.symbols.architectures)(architectures.as_mut_ptr())
        })?;
        self.version = (major, minor);
        self.architectures =
            architectures.into_iter().filter_map(|cc| u32::try_from(cc).ok()).collect();
        self.architectures.sort_unstable();
        Ok(())
    }

    /// The kind of code for a compute capability: machine code, or PTX if the device is newer than this NVRTC. `None` if the
    /// device is too old for this NVRTC.
    pub(super) fn code_for(&self, (major, minor): (u32, u32)) -> Option<Code> {
        choose(&self.architectures, major * 10 + minor)
    }

    /// Compiles a source.
    pub(super) fn compile(
        &self,
        name: &CStr,
        source: &CStr,
        options: &[CString],
        code: Code,
    ) -> Result<Compiled, String> {
        let mut raw = std::ptr::null_mut();
        // SAFETY: the strings end with NUL and outlive the program. No headers are passed.
        self.check("nvrtcCreateProgram", unsafe {
            (self.symbols.create)(
                &mut raw,
                source.as_ptr(),
                name.as_ptr(),
                0,
                std::ptr::null(),
                std::ptr::null(),
            )
        })?;
        let program = OwnedProgram { nvrtc: self, raw };
        let options: Vec<_> = options.iter().map(|option| option.as_ptr()).collect();
        // SAFETY: the program is alive, and the number of options is right.
        let done = unsafe {
            (self.symbols.compile)(program.raw, options.len() as c_int, options.as_ptr())
        };
        let log = self.text(&program)?;
        if done != 0 && !log.is_empty() {
            return Ok(Compiled { code: None, log });
        }
        self.check("nvrtcCompileProgram", done)?;
        let code = match code {
            Code::Cubin(_) => {
                self.bytes("nvrtcGetCUBIN", &program, self.symbols.cubin_size, self.symbols.cubin)
            }
            Code::Ptx(_) => {
                self.bytes("nvrtcGetPTX", &program, self.symbols.ptx_size, self.symbols.ptx)
            }
        }?;
        Ok(Compiled { code: Some(code), log })
    }

    fn text(&self, program: &OwnedProgram<'_>) -> Result<String, String> {
        let (size, get) = (self.symbols.log_size, self.symbols.log);
        let mut bytes = self.bytes("nvrtcGetProgramLog", program, size, get)?;
        while bytes.last() == Some(&0) {
            bytes.pop();
        }
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    fn bytes(
        &self,
        call: &str,
        program: &OwnedProgram<'_>,
        size: unsafe extern "C" fn(Program, *mut usize) -> c_int,
        get: unsafe extern "C" fn(Program, *mut c_char) -> c_int,
    ) -> Result<Vec<u8>, String> {
        let mut len = 0;
        // SAFETY: the program is alive and the pointer valid.
        self.check(call, unsafe { size(program.raw, &mut len) })?;
        let mut bytes = vec![0_u8; len];
        // SAFETY: the vector has room for `len` bytes, the size that NVRTC's `size` function has returned.
        self.check(call, unsafe { get(program.raw, bytes.as_mut_ptr().cast()) })?;
        Ok(bytes)
    }

    fn check(&self, call: &str, code: c_int) -> Result<(), String> {
        if code == 0 {
            return Ok(());
        }
        // SAFETY: the function takes any number, and returns a constant string that ends with NUL.
        let text = unsafe { CStr::from_ptr((self.symbols.error_string)(code)) };
        Err(format!("{call} failed: {} ({code})", text.to_string_lossy()))
    }
}

fn choose(architectures: &[u32], cc: u32) -> Option<Code> {
    if architectures.contains(&cc) {
        return Some(Code::Cubin(cc));
    }
    architectures.iter().rev().find(|&&known| known < cc).map(|&known| Code::Ptx(known))
}

struct OwnedProgram<'a> {
    nvrtc: &'a Nvrtc,
    raw: Program,
}

impl Drop for OwnedProgram<'_> {
    fn drop(&mut self) {
        // SAFETY: the program was created, and this is its only owner.
        let done = unsafe { (self.nvrtc.symbols.destroy)(&mut self.raw) };
        if let Err(error) = self.nvrtc.check("nvrtcDestroyProgram", done) {
            log::write(move || tracing::error!(%error, "destroying a compiled program failed"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_known_capability_gets_machine_code_and_others_the_ptx_of_the_next_lower() {
        let known = [75, 80, 90, 100];
        assert_eq!(choose(&known, 90), Some(Code::Cubin(90)));
        assert_eq!(choose(&known, 89), Some(Code::Ptx(80)));
        assert_eq!(choose(&known, 130), Some(Code::Ptx(100)));
        assert_eq!(choose(&known, 70), None);
    }
}
