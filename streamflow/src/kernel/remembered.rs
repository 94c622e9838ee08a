//! The launches that a thread has checked before. When the thread launches the same kernel with the same grid again, the launch
//! neither searches for the function nor checks the grid.
//!
//! A remembered launch with two tensors and a number takes 188 instructions less than the 755 of a launch that is not remembered,
//! counted by callgrind. These counts are of code into which `kernel::passing` is inlined.

use std::cell::Cell;

use super::grid::{Form, GridShape};
use super::{Grid, KernelInfo, axes};
use crate::driver::{DeviceId, LoadedKernel, RawFunction};
use crate::stream::{PlatformNumber, Timeline};

/// The number of slots of a thread, more than most programs launch kernels in a tick, so that few launches share a slot. Each
/// slot that is used takes two cache lines.
const PLACES: usize = 256;

thread_local! {
    // All bytes of the table are 0, so the system gives no memory for it before its first use.
    static LAUNCHES: [Slot; PLACES] = const { [const { Slot::empty() }; PLACES] };
}

/// What a launch needs to know about a kernel and a grid that was checked for it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Checked<'a> {
    pub(super) function: RawFunction,
    /// The kernel's name, for error texts.
    pub(super) name: &'a str,
    pub(super) shape: GridShape,
}

/// A slot for a remembered launch. Each thread has its own slots, and reads and writes them without a lock.
/// A remembered launch stays right: a kernel stays loaded while its driver lives, no platform gets the number of an earlier
/// platform, and all parts of the grid are compared.
// The order of the fields matters: the fields that a launch is compared with are in the first cache line.
#[repr(C, align(64))]
struct Slot {
    kernel: Cell<Option<&'static KernelInfo>>,
    size: Cell<[u64; 3]>,
    /// The largest number of elements that a slice which such a launch writes may have.
    most: Cell<u64>,
    platform: Cell<Option<PlatformNumber>>,
    form: Cell<Form>,
    function: Cell<RawFunction>,
    // The fields below are in the second cache line. For a launch that sets the threads of a block, `shape.block` has those
    // numbers of threads.
    shape: Cell<GridShape>,
    name: Cell<Option<&'static str>>,
}

const _: () = assert!(size_of::<Slot>() <= 128);

impl Slot {
    const fn empty() -> Self {
        Self {
            kernel: Cell::new(None),
            size: Cell::new([0; 3]),
            most: Cell::new(0),
            platform: Cell::new(None),
            form: Cell::new(Form::NONE),
            function: Cell::new(RawFunction::new(DeviceId(0), 0)),
            shape: Cell::new(GridShape { grid: (0, 0, 0), block: (0, 0, 0), shared_bytes: 0 }),
            name: Cell::new(None),
        }
    }

    /// Returns what a launch of this kernel with this grid needs. `None` if this slot remembers another launch, or if the slice
    /// of `longest` elements that the launch writes is longer than the grid permits.
    #[inline(always)]
    fn get(
        &self,
        info: &'static KernelInfo,
        grid: &Grid,
        timeline: &Timeline,
        longest: u64,
    ) -> Option<Checked<'static>> {
        let is_kernel = self.kernel.get().is_some_and(|kernel| std::ptr::eq(kernel, info));
        let is_it = is_kernel
            && self.platform.get() == Some(timeline.platform())
            && self.function.get().device() == timeline.device()
            && self.form.get() == grid.form()
            && grid.is_of(self.size.get(), self.shape.get())
            && longest <= self.most.get();
        is_it.then(|| Checked {
            function: self.function.get(),
            name: self.name.get().unwrap_or_default(),
            shape: self.shape.get(),
        })
    }

    /// Remembers a launch that was checked. The launch that the slot had before is forgotten.
    fn set(
        &self,
        info: &'static KernelInfo,
        grid: &Grid,
        platform: PlatformNumber,
        (loaded, shape): (&LoadedKernel, GridShape),
    ) {
        let covered = axes::covered((loaded, info.threads), info.axes, grid);
        self.kernel.set(Some(info));
        self.size.set(grid.size());
        self.most.set(info.coverage.most_written(covered));
        self.platform.set(Some(platform));
        self.form.set(grid.form());
        self.function.set(loaded.function);
        self.shape.set(shape);
        self.name.set(Some(info.name));
    }
}

/// The index of a launch's slot. Launches of one kernel with different widths of the grid mostly have different slots.
#[inline(always)]
fn place(info: &'static KernelInfo, grid: &Grid) -> usize {
    // Addresses of kernels' descriptions are close together, and grids differ little. The odd factor, 2^64 divided by the golden
    // ratio, spreads the keys over the highest bits.
    let key = (std::ptr::from_ref(info).addr() as u64).wrapping_add(grid.width());
    (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (u64::BITS - PLACES.ilog2())) as usize
}

/// Returns what an earlier launch of this kernel with this grid has found. `None` if the slot has no such launch, or if the grid
/// is too small for `longest` elements.
#[inline(always)]
pub(super) fn find(
    info: &'static KernelInfo,
    grid: &Grid,
    timeline: &Timeline,
    longest: u64,
) -> Option<Checked<'static>> {
    let get =
        |launches: &[Slot; PLACES]| launches[place(info, grid)].get(info, grid, timeline, longest);
    LAUNCHES.try_with(get).ok().flatten()
}

/// Remembers a checked launch in its slot of this thread.
pub(super) fn remember(
    info: &'static KernelInfo,
    grid: &Grid,
    timeline: &Timeline,
    checked: (&LoadedKernel, GridShape),
) {
    let _there = LAUNCHES.try_with(|launches| {
        launches[place(info, grid)].set(info, grid, timeline.platform(), checked);
    });
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;
    use crate::kernel::Kernel;
    use crate::{Platform, device, kernel};

    #[kernel(unsafe cuda = "unsigned long long i = thread_index(); if (i < out_len) out[i] = 1;")]
    fn fill(out: &mut [f32]) {
        out.fill(1.0);
    }

    #[kernel(grid_stride, unsafe cuda = "for (unsigned long long i = thread_index(); i < out_len; i += thread_count()) out[i] = 1;")]
    fn fill_all(out: &mut [f32]) {
        out.fill(1.0);
    }

    #[kernel(partial, unsafe cuda = "if (thread_index() == 0) out[0] = 1;")]
    fn fill_first(out: &mut [f32]) {
        out[0] = 1.0;
    }

    fn loaded(device: u32) -> LoadedKernel {
        let function = RawFunction::new(DeviceId(device), 7);
        LoadedKernel { function, block_size: 32, max_block_size: 1024 }
    }

    /// Returns grids, each of which differs from another one of the list in one part. Several of them have the same blocks.
    fn grids() -> Vec<Grid> {
        let plain = [
            Grid::elements(64),
            Grid::elements(65),
            Grid::elements([64, 1]),
            Grid::elements([64, 2]),
            Grid::elements([64, 1, 1]),
            Grid::elements([64, 1, 2]),
            Grid::blocks(64),
            Grid::blocks(2),
            Grid::blocks([64, 2]),
        ];
        let threads = plain.map(|grid| grid.threads(32));
        let others = [
            Grid::elements(64).threads(31),
            Grid::elements(64).threads([32, 2]),
            Grid::elements(64).threads([32, 1, 2]),
            Grid::elements(64).shared_bytes(8),
            Grid::elements(64).threads(32).shared_bytes(8),
            Grid::elements(64).threads(32).shared_bytes(16),
        ];
        [plain.as_slice(), &threads, &others].concat()
    }

    #[test]
    fn a_launch_is_found_only_with_all_parts_of_its_grid() {
        let platform = Platform::host().build().unwrap();
        let stream = platform.default_stream(device(0)).unwrap();
        let timeline = stream.timeline();
        for remembered in grids() {
            let shape = remembered.shape(&loaded(0), None).unwrap();
            let place = Slot::empty();
            place.set(fill::INFO, &remembered, timeline.platform(), (&loaded(0), shape));
            for grid in grids() {
                let found = place.get(fill::INFO, &grid, timeline, 0);
                assert_eq!(found.is_some(), grid == remembered, "{grid:?} for {remembered:?}");
                if let Some(found) = found {
                    assert_eq!((found.shape, found.name), (shape, "fill"));
                    assert_eq!(found.function, loaded(0).function);
                }
            }
        }
    }

    #[test]
    fn a_launch_is_found_only_for_its_kernel_its_device_and_its_platform() {
        let platforms = [(); 2].map(|()| Platform::host().devices(2).build().unwrap());
        let grid = Grid::from(8);
        let shape = grid.shape(&loaded(0), None).unwrap();
        let place = Slot::empty();
        let own = platforms[1].default_stream(device(1)).unwrap();
        assert!(place.get(fill::INFO, &grid, own.timeline(), 0).is_none());
        place.set(fill::INFO, &grid, own.timeline().platform(), (&loaded(1), shape));
        for (platform, index) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
            let stream = platforms[platform].default_stream(device(index)).unwrap();
            let found = [fill::INFO, fill_all::INFO]
                .map(|info| place.get(info, &grid, stream.timeline(), 0).is_some());
            assert_eq!(found, [(platform, index) == (1, 1), false]);
        }
    }

    #[test]
    fn a_launch_is_not_found_for_a_slice_that_its_grid_does_not_cover() {
        let platform = Platform::host().build().unwrap();
        let stream = platform.default_stream(device(0)).unwrap();
        let found = |info, grid: Grid, longest| {
            let shape = grid.shape(&loaded(0), None).unwrap();
            let place = Slot::empty();
            place.set(info, &grid, stream.timeline().platform(), (&loaded(0), shape));
            place.get(info, &grid, stream.timeline(), longest).is_some()
        };
        for (grid, covered) in [(Grid::from(8), 8), ([4, 3].into(), 12), (Grid::blocks(2), 64)] {
            assert!(found(fill::INFO, grid, covered));
            assert!(!found(fill::INFO, grid, covered + 1));
            assert!(found(fill_all::INFO, grid, covered + 1));
            assert!(found(fill_first::INFO, grid, u64::MAX));
        }
    }

    /// Few launches share a slot, although kernels' descriptions lie side by side in memory and the grids of a program are often
    /// similar.
    #[test]
    fn few_launches_share_a_place() {
        let places = |grids: &mut dyn Iterator<Item = usize>| {
            grids
                .map(|size| place(fill::INFO, &Grid::from(size)))
                .collect::<std::collections::BTreeSet<_>>()
                .len()
        };
        assert!(places(&mut (1..=20)) >= 18);
        assert!(places(&mut (0..20).map(|power| 1 << power)) >= 18);
    }
}
