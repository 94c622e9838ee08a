//! Kernels whose code for a GPU is an image that another tool has compiled: `#[kernel(unsafe image = "…")]`.
//!
//! The image is read before the driver loads it, so that a wrong name or another signature is an error with the kernel's name, also
//! on the simulator and in [`testing::kernels`](crate::testing::kernels).

mod cubin;
mod ptx;

use super::info::{EmbeddedImage, KernelInfo};
use crate::driver::{
    Code, DeviceId, Driver, DriverError, DriverResult, Image, KernelSource, LoadedKernel, promise,
};

/// The functions of an image, and the target that it is compiled for.
#[derive(Debug, Default, PartialEq, Eq)]
struct Contents {
    kind: &'static str,
    /// As in `sm_90`, if the image says it.
    target: Option<String>,
    entries: Vec<Entry>,
}

/// A function of an image.
#[derive(Debug, PartialEq, Eq)]
struct Entry {
    name: String,
    /// The sizes of the parameters in bytes, if the image says them.
    params: Option<Vec<usize>>,
}

/// Reads an image. Returns `None` for a fatbin, whose format NVIDIA does not describe.
///
/// # Errors
/// Bytes that are no image, or a part of one.
fn contents(code: &[u8]) -> Result<Option<Contents>, &'static str> {
    const FATBIN: [u8; 4] = [0x50, 0xed, 0x55, 0xba];
    if code.is_empty() {
        return Err("is empty");
    }
    if code.starts_with(&FATBIN) {
        return Ok(None);
    }
    if cubin::is_elf(code) {
        return cubin::read(code).map(Some).ok_or("is a CUBIN that is cut off");
    }
    let text = std::str::from_utf8(code).ok().and_then(ptx::read);
    text.map(Some).ok_or("is neither PTX text nor a CUBIN or a fatbin")
}

impl EmbeddedImage {
    /// Checks that the image has the kernel's function, with the parameters that a launch passes.
    ///
    /// # Errors
    /// [`DriverError::Kernel`] with the file, the function and what the image has.
    pub(super) fn check(&self, info: &KernelInfo) -> DriverResult<()> {
        let (file, entry) = (self.file, info.entry);
        let refuse =
            |message: String| Err(DriverError::Kernel { kernel: info.name.to_owned(), message });
        let contents = match contents(self.code) {
            Ok(Some(contents)) => contents,
            Ok(None) => return Ok(()),
            Err(what) => {
                return refuse(format!("`{file}` {what}; give PTX text, a CUBIN or a fatbin"));
            }
        };
        let Some(found) = contents.entries.iter().find(|found| found.name == entry) else {
            let names: Vec<_> =
                contents.entries.iter().map(|entry| format!("`{}`", entry.name)).collect();
            let has = if names.is_empty() { "no function".to_owned() } else { names.join(", ") };
            return refuse(format!(
                "`{file}` has no function `{entry}`; it has {has}: write `entry = \"…\"` with the name in the image, \
                 where C++ mangles names without `extern \"C\"`"
            ));
        };
        match &found.params {
            Some(sizes) if !self.params.iter().map(|(_, size)| size).eq(sizes) => {
                refuse(self.other_signature(entry, sizes))
            }
            _ => Ok(()),
        }
    }

    /// The error text for a function with other parameters.
    fn other_signature(&self, entry: &str, sizes: &[usize]) -> String {
        let passed: Vec<_> =
            self.params.iter().map(|(name, size)| format!("`{name}` ({size})")).collect();
        let has: Vec<_> = sizes.iter().map(usize::to_string).collect();
        let addresses = self.params.iter().filter(|(name, _)| !name.ends_with(".len()"));
        let way = if addresses.map(|(_, size)| size).eq(sizes) {
            "write `slices = pointers`, with which a slice is its address alone"
        } else {
            "change the arguments of the Rust function; a slice is its address and its length, each of 8 bytes, and \
             with `slices = pointers` its address alone"
        };
        format!(
            "`{entry}` of `{}` has {} parameters, of {} bytes, and a launch passes {}, in bytes {}: {way}",
            self.file,
            sizes.len(),
            has.join(", "),
            passed.len(),
            passed.join(", ")
        )
    }

    /// The code, after a [`check`](Self::check).
    ///
    /// # Errors
    /// Those of the check.
    pub(super) fn checked(&self, info: &KernelInfo) -> DriverResult<Image> {
        self.check(info)?;
        Ok(Image(self.code.to_vec()))
    }

    /// Makes the kernel ready to launch on a device.
    ///
    /// # Errors
    /// Those of [`check`](Self::check), and the driver's with the file.
    pub(super) fn load(
        &'static self,
        driver: &dyn Driver,
        device: DeviceId,
        info: &'static KernelInfo,
    ) -> DriverResult<LoadedKernel> {
        self.check(info)?;
        let host = self.has_host_body.then_some(info.host);
        let code = Code::Embedded(self.code);
        let source = KernelSource { name: info.name, entry: info.entry, host, code };
        // SAFETY: the author of the kernel vouches for the image by `unsafe image`.
        let loaded = unsafe { driver.load_kernel(device, &source) };
        let loaded = loaded.map_err(|error| match error {
            DriverError::Kernel { kernel, message } => {
                let message = self.explained(driver, device, info, &message);
                DriverError::Kernel { kernel, message }
            }
            other => other,
        })?;
        promise::check_loaded(device, loaded)
    }

    /// The driver's message with the file, the function, the image's target and that of the device.
    fn explained(
        &self,
        driver: &dyn Driver,
        device: DeviceId,
        info: &KernelInfo,
        message: &str,
    ) -> String {
        if !self.has_host_body && driver.device_info(device).is_ok_and(|on| on.ordinal.is_none()) {
            return format!(
                "its function ends with `;`, and the simulator runs no code of `{}`: give it a Rust body, or run it on a \
                 CUDA device",
                self.file
            );
        }
        let of = match contents(self.code) {
            Ok(Some(Contents { kind, target: Some(target), .. })) => format!("{kind} for {target}"),
            Ok(Some(Contents { kind, .. })) => kind.to_owned(),
            _ => "a fatbin".to_owned(),
        };
        let on = driver.device_info(device).map(|on| {
            let (major, minor) = on.compute_capability;
            format!(", on a device of compute capability {major}.{minor}")
        });
        let on = on.unwrap_or_default();
        format!("`{}` of `{}`, {of}{on}: {message}", info.entry, self.file)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;
    use crate::kernel::{Axes, Coverage, CudaBody};

    const PTX: &[u8] = b"
        .version 6.4 // .entry commented(.param .u8 x)
        .target sm_75, texmode_independent
        .visible .entry _Z5scalePf(.param .u64 .ptr .global .align 4 y, .param .f32 a) { ret; }
        .visible .entry scale (
            .param .u64 y, /* .param .u64 z, */ .param .u64 y_len,
            .param .align 8 .b8 pair[16], .param .b16 h
        ) .maxntid 256, 1, 1
        { ret; }
        .entry nothing { ret; }
        .extern .func other(.param .u64 x);";

    unsafe fn host(_: crate::driver::HostArgs<'_>) {}

    fn checked(
        entry: &'static str,
        code: &'static [u8],
        params: &'static [(&'static str, usize)],
    ) -> DriverResult<()> {
        let image = EmbeddedImage { file: "k.ptx", code, params, has_host_body: true };
        let image: &'static EmbeddedImage = Box::leak(Box::new(image));
        image.check(&KernelInfo {
            name: "k",
            entry,
            file: "k.rs",
            line: 1,
            cuda: CudaBody::Image(image),
            params: &[],
            generics: &[],
            threads: None,
            coverage: Coverage::Elementwise,
            axes: Axes::UNKNOWN,
            reports: false,
            host,
        })
    }

    #[test]
    fn the_functions_of_ptx_are_found_with_their_parameters() {
        let contents = contents(PTX).unwrap().unwrap();
        assert_eq!((contents.kind, contents.target.as_deref()), ("PTX", Some("sm_75")));
        let all: Vec<_> =
            contents.entries.into_iter().map(|entry| (entry.name, entry.params.unwrap())).collect();
        let entry = |name: &str, params: &[usize]| (name.to_owned(), params.to_vec());
        assert_eq!(
            all,
            [entry("_Z5scalePf", &[8, 4]), entry("scale", &[8, 8, 16, 2]), entry("nothing", &[])]
        );
    }

    #[test]
    fn an_image_with_another_signature_is_refused() {
        let params = &[("y", 8), ("y.len()", 8), ("pair", 16), ("h", 2)];
        checked("scale", PTX, params).unwrap();
        checked("_Z5scalePf", PTX, &[("y", 8), ("a", 4)]).unwrap();
        let text = checked("scale", PTX, &[("y", 8), ("y.len()", 8), ("pair", 16)])
            .unwrap_err()
            .to_string();
        assert!(
            text.contains(
                "`scale` of `k.ptx` has 4 parameters, of 8, 8, 16, 2 bytes, and a launch passes 3"
            ),
            "{text}"
        );
        let text = checked("_Z5scalePf", PTX, &[("y", 8), ("y.len()", 8), ("a", 4)])
            .unwrap_err()
            .to_string();
        assert!(
            text.contains("`y.len()` (8), `a` (4)") && text.contains("write `slices = pointers`"),
            "{text}"
        );
        let text = checked("scal", PTX, params).unwrap_err().to_string();
        assert!(
            text.contains("kernel `k`")
                && text.contains("no function `scal`; it has `_Z5scalePf`, `scale`, `nothing`"),
            "{text}"
        );
    }

    #[test]
    fn bytes_that_are_no_image_are_refused() {
        for (code, what) in [
            (&b""[..], "is empty"),
            (b"__global__ void scale() {}", "neither PTX text"),
            (b"\xff\xfe", "neither PTX text"),
            (b"\x7fELF\x02\x01\x01", "cut off"),
        ] {
            let text = checked("k", code, &[]).unwrap_err().to_string();
            assert!(text.contains(what) && text.contains("`k.ptx`"), "{text}");
        }
        // The driver reads fatbins.
        checked("k", &[0x50, 0xed, 0x55, 0xba, 1], &[]).unwrap();
    }
}
