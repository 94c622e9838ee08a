//! Compiles a kernel to code that a CUDA driver loads.

use std::collections::HashMap;
use std::ffi::CString;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use crate::driver::{
    Code, DeviceId, Driver, DriverError, DriverResult, Image, KernelSource, LoadedKernel, Target,
    promise,
};
use crate::error::Result;

use super::bounds::{self, Bounds};
use super::cache::{Cache, Key};
use super::compiled_code::CompiledCode;
use super::nvrtc::{self, Nvrtc};
use super::{CudaBody, KernelInfo, source};
use crate::log;

/// The options of NVRTC. The language version is fixed, so that a newer NVRTC compiles the same language. Line numbers
/// help profilers and cost nothing at run time.
const OPTIONS: [&str; 2] = ["--std=c++17", "--generate-line-info"];
/// An option of NVRTC 12.4 and later: without the declarations of textures, surfaces and the CUDA runtime, a short kernel takes
/// 5 ms less of 14 to 19. Kernels with a body in CUDA go without it, since they may use these names.
const MINIMAL: (&str, (i32, i32)) = ("--minimal", (12, 4));

/// Makes a kernel ready to launch on a device: compiles it, or takes its code from a cache. The code checks indices
/// if [`bounds::enabled`] says so.
///
/// # Errors
/// [`DriverError::Unavailable`] without NVRTC; [`DriverError::Kernel`] when the CUDA source does not compile; the driver's
/// error when it refuses the code.
pub(super) fn load(
    driver: &dyn Driver,
    device: DeviceId,
    info: &'static KernelInfo,
) -> DriverResult<LoadedKernel> {
    if let Some(image) = info.cuda.image() {
        return image.load(driver, device, info);
    }
    let bounds = bounds::enabled();
    if bounds == Bounds::Checked {
        bounds::remember(info);
    }
    let image = |target| cached(info, target, bounds);
    let code = Code::Image(&image);
    let source = KernelSource { name: info.name, entry: info.entry, host: Some(info.host), code };
    // SAFETY: NVRTC made the image, and the image is complete: the cache ignores a damaged file.
    let loaded = unsafe { driver.load_kernel(device, &source) }?;
    promise::check_loaded(device, loaded)
}

/// Compiles a kernel for a compute capability, as `(9, 0)`, without a cache. Compiling needs NVRTC but no GPU, so a
/// build server can check the CUDA bodies: the simulator runs only the Rust body. A test of all kernels is
/// [`testing::kernels`](crate::testing::kernels).
///
/// ```
/// use streamflow::kernel::{CompiledCode, Kernel, compile_for};
/// use streamflow::prelude::*;
///
/// /// out[i] = the mean of image[i] and its neighbours; 0 at the ends
/// #[kernel(
///     unsafe cuda = "
///         unsigned long long i = thread_index();
///         if (i >= out_len) return;
///         bool inside = i > 0 && i + 1 < out_len;
///         out[i] = inside ? (image[i - 1] + image[i] + image[i + 1]) / 3.0f : 0.0f;
///     ",
///     requires(image.len() == out.len())
/// )]
/// fn blur(out: &mut [f32], image: &[f32]) {
///     out.fill(0.0);
///     for (i, three) in image.windows(3).enumerate() {
///         out[i + 1] = three.iter().sum::<f32>() / 3.0;
///     }
/// }
///
/// # fn main() -> Result<()> {
/// // In a test of your own project, for each kernel and each GPU that it is meant for. For a generic kernel,
/// // name an instance: `<cast<u8, f32> as Kernel>::INFO`.
/// match CompiledCode::compiler_version() {
///     Ok(_) => {
///         let code = compile_for(<blur as Kernel>::INFO, (9, 0))?;
///         assert!(!code.bytes().is_empty());
///     }
///     // On a build server, let this fail.
///     Err(missing) => println!("skipped: {missing}"),
/// }
/// # Ok(())
/// # }
/// ```
///
/// Of a kernel with `unsafe image`, the image is checked and returned, for whichever target it is.
///
/// The code is a CUBIN, or PTX (with its final NUL) if the loaded NVRTC does not support the compute capability.
///
/// # Errors
/// [`DriverError::Unavailable`] without NVRTC, [`DriverError::Kernel`] when the kernel's CUDA source does not compile; the
/// message has the compiler's log with the file and the line of the CUDA body.
pub fn compile_for(
    info: &KernelInfo,
    compute_capability: (u32, u32),
) -> Result<CompiledCode<'static>> {
    compiled(info, compute_capability, Bounds::Unchecked)
}

fn compiled(
    info: &KernelInfo,
    compute_capability: (u32, u32),
    bounds: Bounds,
) -> Result<CompiledCode<'static>> {
    if let Some(image) = info.cuda.image() {
        return Ok(CompiledCode::of(image.checked(info)?));
    }
    Ok(CompiledCode::of(Job::new(info, Target { compute_capability }, bounds)?.compile()?))
}

/// Functions that compile kernels.
impl CompiledCode<'static> {
    /// Compiles a kernel as [`compile_for`] does, with the checks of `STREAMFLOW_CHECK_BOUNDS=1`.
    ///
    /// # Errors
    /// As for [`compile_for`].
    pub fn checked_for(info: &KernelInfo, compute_capability: (u32, u32)) -> Result<Self> {
        compiled(info, compute_capability, Bounds::Checked)
    }

    /// Returns the code that a launch would load, without loading it: from this process's cache, from disk, or compiled
    /// and stored. A program can call this to fill the cache before its first run.
    ///
    /// # Errors
    /// As for [`compile_for`].
    pub fn cached_for(info: &KernelInfo, compute_capability: (u32, u32)) -> Result<Self> {
        Ok(Self::of(cached(info, Target { compute_capability }, bounds::enabled())?))
    }

    /// The version of the NVRTC that kernels are compiled with, as `(13, 0)`.
    ///
    /// # Errors
    /// [`DriverError::Unavailable`] with a remedy when no NVRTC is found.
    pub fn compiler_version() -> Result<(u32, u32)> {
        let (major, minor) = Nvrtc::get()?.version;
        Ok((major.unsigned_abs(), minor.unsigned_abs()))
    }
}

/// Whether the process's NVRTC can compile for a compute capability: either machine code for it, or PTX for an older one, which
/// such a device also loads.
///
/// # Errors
/// As for [`CompiledCode::compiler_version`].
pub(crate) fn supports(compute_capability: (u32, u32)) -> Result<bool> {
    Ok(Nvrtc::get()?.code_for(compute_capability).is_some())
}

/// Returns the image from this process's cache or from disk. If the image is in neither, compiles and stores it.
fn cached(info: &KernelInfo, target: Target, bounds: Bounds) -> DriverResult<Image> {
    if let Some(image) = info.cuda.image() {
        return image.checked(info);
    }
    type Images = Mutex<HashMap<Key, Arc<Vec<u8>>>>;
    static IMAGES: OnceLock<Images> = OnceLock::new();
    static CACHE: OnceLock<Cache> = OnceLock::new();

    let job = Job::new(info, target, bounds)?;
    let key = job.key();
    let images =
        || IMAGES.get_or_init(Mutex::default).lock().unwrap_or_else(PoisonError::into_inner);
    // No lock is held while a kernel is compiled, so other threads can compile other kernels.
    if let Some(image) = images().get(&key) {
        return Ok(Image(image.to_vec()));
    }
    let cache = CACHE.get_or_init(Cache::from_env);
    let image = match cache.load(&key) {
        Some(code) => Image(code),
        None => {
            let image = job.compile()?;
            cache.store(&key, &image.0);
            image
        }
    };
    images().insert(key, Arc::new(image.0.clone()));
    Ok(image)
}

/// A kernel to compile, and its target.
struct Job<'a> {
    info: &'a KernelInfo,
    nvrtc: &'static Nvrtc,
    code: nvrtc::Code,
    source: String,
    options: Vec<String>,
}

impl<'a> Job<'a> {
    fn new(info: &'a KernelInfo, target: Target, bounds: Bounds) -> DriverResult<Self> {
        let nvrtc = Nvrtc::get()?;
        let (major, minor) = target.compute_capability;
        let code = nvrtc.code_for((major, minor)).ok_or_else(|| DriverError::Kernel {
            kernel: info.name.into(),
            message: format!(
                "NVRTC {}.{} no longer supports compute capability {major}.{minor}; point \
                 STREAMFLOW_NVRTC_DIR at an older NVRTC",
                nvrtc.version.0, nvrtc.version.1
            ),
        })?;
        let (option, since) = MINIMAL;
        let is_minimal = matches!(info.cuda, CudaBody::Made(_)) && nvrtc.version >= since;
        let minimal = is_minimal.then_some(option);
        let options = OPTIONS.into_iter().chain(minimal).map(String::from);
        let options = options.chain([code.option()]).collect();
        Ok(Self { info, nvrtc, code, source: source::generate(info, bounds), options })
    }

    fn key(&self) -> Key {
        let version = format!("NVRTC {}.{}", self.nvrtc.version.0, self.nvrtc.version.1);
        let options = self.options.iter().map(|option| option.as_bytes());
        Key::of([version.as_bytes(), self.source.as_bytes()].into_iter().chain(options))
    }

    fn compile(&self) -> DriverResult<Image> {
        let refuse =
            |message: String| DriverError::Kernel { kernel: self.info.name.into(), message };
        let c_string = |text: &str| {
            CString::new(text)
                .map_err(|_| refuse("its CUDA source has a NUL character; remove it".into()))
        };
        let name = c_string(&format!("{}.cu", self.info.name))?;
        let source = c_string(&self.source)?;
        let options =
            self.options.iter().map(|option| c_string(option)).collect::<Result<Vec<_>, _>>()?;
        let compiled = self.nvrtc.compile(&name, &source, &options, self.code).map_err(refuse)?;
        let text = readable(&compiled.log, self.info.file);
        match compiled.code {
            Some(code) => {
                if !text.is_empty() {
                    let kernel = self.info.name;
                    log::write(move || tracing::warn!(kernel, "{text}"));
                }
                Ok(Image(code))
            }
            None => Err(refuse(format!("its CUDA body does not compile:\n{text}"))),
        }
    }
}

/// Returns the compiler's log with each place as `file:line:`, a form that terminals and editors can open. The compiler writes
/// `file(line):`.
fn readable(log: &str, file: &str) -> String {
    let place = |line: &str| -> Option<String> {
        let (number, rest) = line.strip_prefix(file)?.strip_prefix('(')?.split_once(')')?;
        Some(format!("{file}:{}{rest}", number.parse::<u32>().ok()?))
    };
    let lines: Vec<String> =
        log.trim_end().lines().map(|line| place(line).unwrap_or_else(|| line.into())).collect();
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_in_the_log_have_the_form_that_editors_open() {
        let log = "src/a(b).rs(12): error: x\n      x\n      ^\n\nsrc/a(b).rs(y): z\n";
        let expected = "src/a(b).rs:12: error: x\n      x\n      ^\n\nsrc/a(b).rs(y): z";
        assert_eq!(readable(log, "src/a(b).rs"), expected);
    }
}
