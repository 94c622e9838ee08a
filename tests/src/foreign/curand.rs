//! Calls cuRAND's host generator, with whose random numbers the library's are compared. The generator needs no GPU and no
//! driver.

use std::ffi::c_void;
use std::path::Path;
use std::ptr::null_mut;

use libloading::os::unix::{Library, RTLD_GLOBAL, RTLD_NOW, Symbol};

use crate::Failed;

/// `CURAND_RNG_PSEUDO_PHILOX4_32_10`
const PHILOX4_32_10: i32 = 161;

type Status = i32;
type Handle = *mut c_void;
type Fill<T> = unsafe extern "C" fn(Handle, *mut T, usize) -> Status;
type FillNormal<T> = unsafe extern "C" fn(Handle, *mut T, usize, T, T) -> Status;

/// The loaded library cuRAND.
#[derive(Debug)]
pub struct Curand {
    library: Library,
    /// The CUDA runtime, loaded globally because cuRAND looks it up by name.
    _runtime: Library,
}

impl Curand {
    /// Loads `libcudart.so.13` and `libcurand.so.10` from the directory that the environment variable
    /// `STREAMFLOW_CURAND_DIR` names.
    ///
    /// # Errors
    /// A text that says why cuRAND can't be loaded.
    pub fn load() -> Result<Self, String> {
        let variable = "STREAMFLOW_CURAND_DIR";
        let dir = std::env::var_os(variable)
            .ok_or(format!("{variable} is not set; `.ci/run curand` sets it"))?;
        let open = |name: &str| {
            let path = Path::new(&dir).join(name);
            // SAFETY: the initialisers of NVIDIA's libraries have no requirements.
            unsafe { Library::open(Some(&path), RTLD_NOW | RTLD_GLOBAL) }
                .map_err(|error| format!("{variable}: {error}"))
        };
        Ok(Self { _runtime: open("libcudart.so.13")?, library: open("libcurand.so.10")? })
    }

    /// Makes a host generator with this seed and offset.
    ///
    /// # Errors
    /// A missing function, or cuRAND's status.
    pub fn philox(&self, seed: u64, offset: u64) -> Result<HostPhilox<'_>, Failed> {
        let mut made = HostPhilox { of: self, handle: null_mut() };
        // SAFETY: the types are those of `curand.h`, and the pointer is to a variable for the handle.
        let status = unsafe {
            let create: Symbol<unsafe extern "C" fn(*mut Handle, i32) -> Status> =
                self.library.get(b"curandCreateGeneratorHost")?;
            create(&raw mut made.handle, PHILOX4_32_10)
        };
        check("curandCreateGeneratorHost", status)?;
        made.set("curandSetPseudoRandomGeneratorSeed", seed)?;
        made.set("curandSetGeneratorOffset", offset)?;
        Ok(made)
    }
}

/// A generator of [`Curand`].
#[derive(Debug)]
pub struct HostPhilox<'a> {
    of: &'a Curand,
    handle: Handle,
}

impl HostPhilox<'_> {
    /// `curandGenerate`
    ///
    /// # Errors
    /// As for [`Curand::philox`].
    pub fn u32(&mut self, len: usize) -> Result<Vec<u32>, Failed> {
        self.fill("curandGenerate", len)
    }

    /// `curandGenerateUniform`
    ///
    /// # Errors
    /// As for [`Curand::philox`].
    pub fn uniform_f32(&mut self, len: usize) -> Result<Vec<f32>, Failed> {
        self.fill("curandGenerateUniform", len)
    }

    /// `curandGenerateUniformDouble`
    ///
    /// # Errors
    /// As for [`Curand::philox`].
    pub fn uniform_f64(&mut self, len: usize) -> Result<Vec<f64>, Failed> {
        self.fill("curandGenerateUniformDouble", len)
    }

    /// `curandGenerateNormal`
    ///
    /// # Errors
    /// As for [`Curand::philox`].
    pub fn normal_f32(&mut self, len: usize, of: (f32, f32)) -> Result<Vec<f32>, Failed> {
        self.fill_normal("curandGenerateNormal", len, of)
    }

    /// `curandGenerateNormalDouble`
    ///
    /// # Errors
    /// As for [`Curand::philox`].
    pub fn normal_f64(&mut self, len: usize, of: (f64, f64)) -> Result<Vec<f64>, Failed> {
        self.fill_normal("curandGenerateNormalDouble", len, of)
    }

    /// Returns the status of `curandGenerateLongLong`, which is an error: this generator makes no 64-bit integers.
    ///
    /// # Errors
    /// A missing function.
    pub fn u64_status(&mut self) -> Result<i32, Failed> {
        let mut out = [0_u64];
        // SAFETY: the type is that of `curand.h`; there is room for one number.
        Ok(unsafe {
            let fill: Symbol<Fill<u64>> = self.of.library.get(b"curandGenerateLongLong")?;
            fill(self.handle, out.as_mut_ptr(), 1)
        })
    }

    fn set(&mut self, name: &str, value: u64) -> Result<(), Failed> {
        // SAFETY: both functions that are called here have this type in `curand.h`.
        let status = unsafe {
            let set: Symbol<unsafe extern "C" fn(Handle, u64) -> Status> =
                self.of.library.get(name.as_bytes())?;
            set(self.handle, value)
        };
        check(name, status)
    }

    fn fill<T: Default + Clone>(&mut self, name: &str, len: usize) -> Result<Vec<T>, Failed> {
        let mut out = vec![T::default(); len];
        // SAFETY: the callers name functions that have this type in `curand.h`; `out` has room for `len` values.
        let status = unsafe {
            let fill: Symbol<Fill<T>> = self.of.library.get(name.as_bytes())?;
            fill(self.handle, out.as_mut_ptr(), len)
        };
        check(name, status).map(|()| out)
    }

    fn fill_normal<T: Default + Clone>(
        &mut self,
        name: &str,
        len: usize,
        (mean, deviation): (T, T),
    ) -> Result<Vec<T>, Failed> {
        let mut out = vec![T::default(); len];
        // SAFETY: the callers name functions that have this type in `curand.h`; `out` has room for `len` values.
        let status = unsafe {
            let fill: Symbol<FillNormal<T>> = self.of.library.get(name.as_bytes())?;
            fill(self.handle, out.as_mut_ptr(), len, mean, deviation)
        };
        check(name, status).map(|()| out)
    }
}

impl Drop for HostPhilox<'_> {
    fn drop(&mut self) {
        // SAFETY: the handle is this generator's own, or null; cuRAND refuses null.
        unsafe {
            let destroy: Result<Symbol<unsafe extern "C" fn(Handle) -> Status>, _> =
                self.of.library.get(b"curandDestroyGenerator");
            if let Ok(destroy) = destroy {
                destroy(self.handle);
            }
        }
    }
}

fn check(name: &str, status: Status) -> Result<(), Failed> {
    crate::check(status == 0, || format!("{name} returned {status}"))
}
