//! Checks of indices on the device, with `STREAMFLOW_CHECK_BOUNDS=1`.
//!
//! A kernel that is compiled with checks has an additional last parameter: the address of a [`Report`] in page-locked host memory
//! that the device can write. The module `state` has one report per device. When the host finds a device's work complete, it
//! reads the report and returns the first error reported since it last read the report.
//!
//! The host simulator needs no such checks: there the kernel accesses a Rust slice, which panics at an index out of range.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use crate::Error;

use super::{KernelInfo, ParamInfo, ParamKind};
use crate::log;

/// Whether indices are checked on the device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Bounds {
    /// The kernel's arguments are bare pointers, whose accesses are not checked.
    Unchecked,
    /// The kernel's arguments are slices that check each index. The kernel has one more parameter, for the report's address.
    Checked,
}

/// The setting of `STREAMFLOW_CHECK_BOUNDS`, which is read once.
pub(super) fn enabled() -> Bounds {
    static ENABLED: OnceLock<Bounds> = OnceLock::new();
    if let Some(known) = ENABLED.get() {
        return *known;
    }
    let _later = log::later();
    *ENABLED.get_or_init(|| {
        let value = std::env::var("STREAMFLOW_CHECK_BOUNDS").unwrap_or_default();
        match value.as_str() {
            "1" => Bounds::Checked,
            "" | "0" => Bounds::Unchecked,
            _ => {
                log::write(move || {
                    tracing::warn!("STREAMFLOW_CHECK_BOUNDS={value} is ignored; 1 turns checks on");
                });
                Bounds::Unchecked
            }
        }
    })
}

/// A report of the first index out of range, written by a kernel. It is empty if all fields are 0.
///
/// The layout is that of `struct Report` in `cuda/checked.cuh`. The fields are atomics because the device may
/// write them while the host reads.
#[derive(Debug, Default)]
#[repr(C)]
pub(super) struct Report {
    state: AtomicU32,
    argument: AtomicU32,
    kernel: AtomicU64,
    index: AtomicU64,
    length: AtomicU64,
    line: AtomicU64,
}

/// A mistake that a kernel with one body reports.
#[derive(Debug, Clone, Copy)]
pub(super) struct Mistake {
    /// The number of the argument among the parameters, [`DIVISION`] or [`ARRAY`].
    pub(super) argument: u32,
    pub(super) index: u64,
    pub(super) length: u64,
    /// The line in the kernel's file.
    pub(super) line: u32,
}

/// The state of a report that the device has written in full.
const COMPLETE: u32 = 2;

/// In place of the argument: an integer was divided by 0.
pub(super) const DIVISION: u32 = u32::MAX;

/// In place of the argument: an index beyond an array of the body.
pub(super) const ARRAY: u32 = u32::MAX - 1;

impl Report {
    /// Keeps a mistake, if it is the first: as `Report::keep` on a device.
    pub(super) fn keep(&self, kernel: u64, mistake: Mistake) {
        let Mistake { argument, index, length, line } = mistake;
        let taken = self.state.compare_exchange(0, 1, Ordering::Relaxed, Ordering::Relaxed);
        if taken.is_ok() {
            self.argument.store(argument, Ordering::Relaxed);
            self.kernel.store(kernel, Ordering::Relaxed);
            self.index.store(index, Ordering::Relaxed);
            self.length.store(length, Ordering::Relaxed);
            self.line.store(line.into(), Ordering::Relaxed);
            self.state.store(COMPLETE, Ordering::Release);
        }
    }

    /// Returns the reported error, if there is one, and empties the report.
    ///
    /// Until the report is emptied, later errors are lost. The first one is the cause to fix.
    pub(super) fn take(&self) -> Option<Error> {
        if self.state.load(Ordering::Acquire) != COMPLETE {
            return None;
        }
        let kernel = self.kernel.load(Ordering::Relaxed);
        let argument = self.argument.load(Ordering::Relaxed);
        let [index, length, line] =
            [&self.index, &self.length, &self.line].map(|field| field.load(Ordering::Relaxed));
        let info = known().get(&kernel).copied();
        let kernel = info.map_or("(unknown)", |info| info.name).to_owned();
        let file = info.map_or("", |info| info.file).to_owned();
        // A launch by strides has the shape before its arguments, and all codes of a kernel count the arguments alone.
        let params = info.map_or(&[][..], |info| info.params).iter();
        let param = params.filter(|param| param.kind != ParamKind::Shape).nth(argument as usize);
        let error = match (argument, param) {
            (DIVISION, _) => Error::DivisionByZero { kernel, file, line },
            (ARRAY, _) => {
                let of = "an array".to_owned();
                Error::IndexOutOfRange { kernel, of, index, length, file, line }
            }
            (_, Some(ParamInfo { name, kind: ParamKind::Table, .. })) => {
                let of = format!("`{name}`");
                Error::IndexOutOfRange { kernel, of, index, length, file, line }
            }
            _ => Error::OutOfBounds {
                kernel,
                argument: param.map_or_else(|| format!("(argument {argument})"), |p| p.name.into()),
                index: index.cast_signed(),
                length,
            },
        };
        self.state.store(0, Ordering::Release);
        Some(error)
    }
}

/// The kernels that were compiled with checks, by the number in their reports.
fn known() -> std::sync::MutexGuard<'static, HashMap<u64, &'static KernelInfo>> {
    static KNOWN: OnceLock<Mutex<HashMap<u64, &'static KernelInfo>>> = OnceLock::new();
    KNOWN.get_or_init(Mutex::default).lock().unwrap_or_else(PoisonError::into_inner)
}

/// Adds a kernel to the known ones, so that an error can name it.
pub(super) fn remember(info: &'static KernelInfo) {
    known().insert(kernel_id(info), info);
}

/// Returns a number for a kernel (FNV-1a, 64 bits). The number is the same in every process, because compiled
/// code that contains it is kept on disk.
pub(super) fn kernel_id(info: &KernelInfo) -> u64 {
    let line = info.line.to_string();
    let generics = info.generics.iter().flat_map(|(name, cuda)| [*name, *cuda]);
    let parts = [info.name, info.file, &line].into_iter().chain(generics);
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for byte in parts.flat_map(|part| part.bytes().chain([0])) {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
    hash
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::{Axes, Coverage, CudaBody};

    unsafe fn host(_: crate::driver::HostArgs<'_>) {}

    static INFO: KernelInfo = KernelInfo {
        name: "blur",
        entry: "blur_kernel",
        file: "bounds.rs",
        line: 1,
        cuda: CudaBody::Text(""),
        params: &[
            ParamInfo { name: "radius", cuda: "int", kind: ParamKind::Scalar },
            ParamInfo { name: "out", cuda: "float", kind: ParamKind::SliceMut },
        ],
        generics: &[],
        threads: None,
        coverage: Coverage::Elementwise,
        axes: Axes::UNKNOWN,
        reports: false,
        host,
    };

    /// Writes a report in the order in which the device writes its fields.
    fn write(report: &Report, kernel: u64, argument: u32, index: i64) {
        report.argument.store(argument, Ordering::Relaxed);
        report.kernel.store(kernel, Ordering::Relaxed);
        report.index.store(index.cast_unsigned(), Ordering::Relaxed);
        report.length.store(10, Ordering::Relaxed);
        report.state.store(COMPLETE, Ordering::Release);
    }

    #[test]
    fn layout_is_the_device_structs() {
        assert_eq!(size_of::<Report>(), 40);
        assert_eq!(std::mem::offset_of!(Report, argument), 4);
        assert_eq!(std::mem::offset_of!(Report, kernel), 8);
        assert_eq!(std::mem::offset_of!(Report, index), 16);
        assert_eq!(std::mem::offset_of!(Report, length), 24);
        assert_eq!(std::mem::offset_of!(Report, line), 32);
    }

    #[test]
    fn a_report_names_kernel_argument_and_index_once() {
        remember(&INFO);
        let report = Report::default();
        assert_eq!(report.take(), None);
        write(&report, kernel_id(&INFO), 1, -1);
        let text = report.take().map(|error| error.to_string()).unwrap_or_default();
        assert!(
            text.starts_with("kernel `blur` used `out[-1]`, but `out` has 10 elements"),
            "{text}"
        );
        assert_eq!(report.take(), None);
    }

    #[test]
    fn a_report_being_written_is_left_alone() {
        let report = Report::default();
        write(&report, 1, 0, 5);
        report.state.store(1, Ordering::Relaxed);
        assert_eq!(report.take(), None);
        report.state.store(COMPLETE, Ordering::Relaxed);
        assert!(report.take().is_some_and(|error| error.to_string().contains("(argument 0)[5]")));
    }

    #[test]
    fn instances_have_their_own_numbers() {
        let float = KernelInfo { generics: &[("T", "float")], ..INFO };
        let half = KernelInfo { generics: &[("T", "half")], ..INFO };
        assert_ne!(kernel_id(&float), kernel_id(&half));
    }
}
