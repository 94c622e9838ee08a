//! The axes along which a CUDA body reads its thread's index or position.
//!
//! The simulator runs the Rust body once, whatever the grid. For the launches in this list its result would be right, and that of
//! a GPU wrong. So the simulator and the GPU both refuse these launches:
//!
//! - The grid has no size in y, and each thread writes the element at its `thread_index_y()`. That index is 0 in every
//!   thread, so most elements of an image would stay unwritten. A body that loops, or that writes only a part of the
//!   elements, is not refused.
//! - The grid has a size in y, and the body does not read its thread's position in y. All threads of a column then do the
//!   same work: `[cols, rows]` writes the first `cols` elements of an image, each `rows` times.
//! - The grid has several blocks in x, and the body reads `threadIdx.x` but not `blockIdx.x`; or a block has several
//!   threads in x, and the body reads `blockIdx.x` but not `threadIdx.x`. The grid is refused if it has
//!   [fewer positions](covered) that the body can tell apart than there are elements.
//! - The body declares dynamic shared memory, and the launch gives none.
//!
//! A body that reads `threadIdx.y` is not refused on a grid without a size in y. Such a body may be right: it may number the
//! threads of a block by `threadIdx.x + threadIdx.y * blockDim.x`.

mod body;

use super::Grid;
use crate::driver::LoadedKernel;
use crate::error::{Error, Result};

/// The functions that return a thread's index, in x, y and z.
const INDICES: [&str; 3] = ["thread_index", "thread_index_y", "thread_index_z"];
const NAMES: [&str; 3] = ["x", "y", "z"];

/// The axes along which a CUDA body reads its thread's position, as far as the body's text shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Axes {
    /// The axes whose index functions are in the body's text.
    indices: [bool; 3],
    /// The axes along which the body may read its thread's position in the block.
    threads: [bool; 3],
    /// The axes along which the body may read the position of its block.
    blocks: [bool; 3],
    /// Whether the body declares dynamic shared memory.
    has_extern: bool,
    /// Whether the body may read the size of its dynamic shared memory.
    may_ask_size: bool,
}

impl Axes {
    /// The value for a body whose text is unknown or too long to read. No grid is refused with it.
    pub const UNKNOWN: Self =
        Self { threads: [true; 3], blocks: [true; 3], may_ask_size: true, ..Self::NONE };

    const NONE: Self = Self {
        indices: [false; 3],
        threads: [false; 3],
        blocks: [false; 3],
        has_extern: false,
        may_ask_size: false,
    };

    /// Reads the axes from the text of a body.
    pub(super) const fn of(cuda: &str) -> Self {
        body::axes(cuda)
    }

    /// Whether the body may read a position along this axis: that of the thread in its block, or that of the block.
    fn may_read(self, axis: usize) -> bool {
        self.threads[axis] || self.blocks[axis]
    }

    /// Whether the body may read a position along this axis or a later one. A launch that has a size along a later axis also has
    /// a size along this one.
    fn reads_beyond(self, axis: usize) -> bool {
        (axis..3).any(|axis| self.may_read(axis))
    }

    /// Whether the body uses dynamic shared memory without reading its size, and so is wrong when a launch gives none.
    fn needs_shared_bytes(self) -> bool {
        self.has_extern && !self.may_ask_size
    }
}

/// The most elements that a kernel with one element for each thread writes with this grid. Threads with equal positions along the
/// axes that the body reads write the same element.
pub(super) fn covered(
    (loaded, threads): (&LoadedKernel, Option<[u32; 3]>),
    axes: Axes,
    grid: &Grid,
) -> u64 {
    let elements = grid.elements_covered(loaded, threads);
    // A body that reads no position loops over the elements.
    if !axes.reads_beyond(0) {
        return elements;
    }
    let Some(per_axis) = grid.blocks_and_threads(loaded, threads) else { return elements };
    let places = (0..3).fold(1_u64, |places, axis| {
        let (blocks, threads) = per_axis[axis];
        // For an axis along which the body reads no position at all, `check_unread` returns the error.
        places.saturating_mul(match (axes.blocks[axis], axes.threads[axis]) {
            (false, true) => blocks.min(1).saturating_mul(threads),
            (true, false) => blocks.saturating_mul(threads.min(1)),
            _ => blocks.saturating_mul(threads),
        })
    });
    elements.min(places)
}

/// Names, in an error text, the threads that the body can't tell apart. `None` if the body can tell all threads apart.
#[cold]
pub(super) fn alike(
    (loaded, threads): (&LoadedKernel, Option<[u32; 3]>),
    axes: Axes,
    grid: &Grid,
) -> Option<String> {
    let per_axis = grid.blocks_and_threads(loaded, threads)?;
    (0..3).filter(|axis| axes.may_read(*axis)).find_map(|axis| {
        let (blocks, threads) = per_axis[axis];
        let (name, index) = (NAMES[axis], INDICES[axis]);
        let (others, read, unread) = match (axes.blocks[axis], axes.threads[axis]) {
            (false, _) if blocks > 1 => ("all blocks", "threadIdx", "blockIdx"),
            (_, false) if threads > 1 => ("all threads of a block", "blockIdx", "threadIdx"),
            _ => return None,
        };
        Some(format!(
            "the kernel's body reads `{read}.{name}` and not `{unread}.{name}`, so {others} write the same elements; read \
             `{index}()` in the body"
        ))
    })
}

/// Refuses a launch without dynamic shared memory if the kernel's body declares some.
pub(super) fn check_shared_bytes(name: &str, axes: Axes, grid: &Grid) -> Result<()> {
    if !axes.needs_shared_bytes() || grid.has_shared_bytes() {
        return Ok(());
    }
    let problem = "it gives no shared memory, but the kernel's body declares `extern __shared__`, so a GPU would access \
                   memory that the launch does not have; add `.shared_bytes(…)` to the grid; a body that uses the memory \
                   only in some launches asks `shared_bytes()` for its size";
    Err(Error::Grid { kernel: name.into(), problem: problem.into() })
}

/// Refuses a launch if the kernel's body reads an index that is 0 in all threads, because the grid has no size along that axis.
/// `threads` is the block size that the kernel is written for.
pub(super) fn check_read(
    (name, loaded, threads): (&str, &LoadedKernel, Option<[u32; 3]>),
    axes: Axes,
    grid: &Grid,
) -> Result<()> {
    let is_missing = |axis: &usize| axes.indices[*axis] && !grid.extends_in(*axis, loaded, threads);
    let Some(axis) = (1..3).rfind(is_missing) else { return Ok(()) };
    let size = if axes.indices[2] { "[cols, rows, planes]" } else { "[cols, rows]" };
    let (axis, index) = (NAMES[axis], INDICES[axis]);
    let problem = format!(
        "the grid has no size in {axis}, where `{index}()` of the kernel's body is 0 in every thread, so a GPU would \
         leave elements unwritten; launch it with `{size}`, each of which may be 1"
    );
    Err(Error::Grid { kernel: name.into(), problem })
}

/// Refuses a launch whose threads differ along an axis that the kernel's body does not read.
pub(super) fn check_unread(
    (name, loaded, threads): (&str, &LoadedKernel, Option<[u32; 3]>),
    axes: Axes,
    grid: &Grid,
) -> Result<()> {
    let differ = |axis: &usize| match (axes.may_read(*axis), axes.reads_beyond(*axis)) {
        (true, _) => false,
        // A grid with a size in z always has sizes in x and y. They may be 1, so only a size of several threads is refused.
        (false, true) => grid.has_several_in(*axis, loaded, threads),
        // Each grid has a size in x, also that of a body that reads no position.
        (false, false) if *axis == 0 => false,
        (false, false) => grid.extends_in(*axis, loaded, threads),
    };
    match (0..3).find(differ) {
        None => Ok(()),
        Some(axis) => {
            Err(Error::Grid { kernel: name.into(), problem: needless(axes, axis, grid, threads) })
        }
    }
}

/// The error text for a grid with a size along an axis that the body does not read.
#[cold]
fn needless(axes: Axes, axis: usize, grid: &Grid, threads: Option<[u32; 3]>) -> String {
    let read: Vec<_> = (0..3).filter(|axis| axes.may_read(*axis)).map(|axis| NAMES[axis]).collect();
    let read = match *read.as_slice() {
        [] => "no place of its thread".to_owned(),
        [first] => format!("the place of its thread in {first} alone"),
        [first, second, ..] => format!("the place of its thread in {first} and {second} alone"),
    };
    let (name, index) = (NAMES[axis], INDICES[axis]);
    let remedy = match (axes.reads_beyond(axis), grid.has_dimension(axis), threads) {
        (true, ..) => format!("launch it with 1 in {name}, as the size and in `.threads(…)`"),
        (false, true, _) => grid.without(axis),
        (false, false, None) => format!("leave the size in {name} out of `.threads(…)`"),
        (false, false, Some(_)) => {
            format!("leave the size in {name} out of the kernel's option `threads(…)`")
        }
    };
    format!(
        "{grid} has threads that differ in {name}, but the kernel's body reads {read}, so a GPU would do the same work \
         several times and might leave elements unwritten; {remedy}, or read `{index}()` in the body"
    )
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;
    use crate::driver::{DeviceId, RawFunction};

    const X: &str = "thread_index()";
    const XY: &str = "thread_index() + thread_index_y()";
    const XZ: &str = "thread_index() + thread_index_z()";
    const XYZ: &str = "thread_index() + thread_index_y() + thread_index_z()";

    fn launch(body: &str, threads: Option<[u32; 3]>, grid: impl Into<Grid>) -> String {
        let function = RawFunction::new(DeviceId::default(), 0);
        let loaded = LoadedKernel { function, block_size: 256, max_block_size: 1024 };
        let (kernel, axes, grid) = (("blur", &loaded, threads), Axes::of(body), grid.into());
        let checked =
            check_read(kernel, axes, &grid).and_then(|()| check_unread(kernel, axes, &grid));
        checked.map_or_else(|error| error.to_string(), |()| String::new())
    }

    fn expect(wrong: &str, parts: &[&str]) {
        for part in ["`blur`"].iter().chain(parts) {
            assert!(wrong.contains(part), "{part}: {wrong}");
        }
    }

    #[test]
    fn a_grid_extends_in_each_dimension_that_the_body_reads() {
        for right in [
            launch(X, None, 64),
            launch(XY, None, [8, 8]),
            // A second size of 1, for one row, counts as a size in y.
            launch(XY, None, [8, 1]),
            launch(XYZ, None, [8, 8, 8]),
            launch(XY, None, Grid::blocks([2, 3])),
            // The threads of a block differ in y.
            launch(XY, None, Grid::blocks(2).threads([32, 8])),
            launch(XY, Some([16, 16, 1]), Grid::blocks(2)),
            launch(XYZ, None, Grid::blocks([2, 3]).threads([8, 8, 4])),
            launch(XZ, None, Grid::blocks(2).threads([8, 1, 8])),
        ] {
            assert_eq!(right, "");
        }
        for (wrong, missing, size) in [
            (launch(XY, None, 64), "size in y, where `thread_index_y()`", "`[cols, rows]`"),
            (launch(XY, Some([256, 1, 1]), Grid::blocks(2)), "size in y,", "`[cols, rows]`"),
            (launch(XYZ, None, 64), "size in z,", "`[cols, rows, planes]`"),
            (launch(XYZ, None, [8, 8]), "size in z, where `thread_index_z()`", "planes]`"),
            (launch(XYZ, None, Grid::blocks(2).threads([8, 1, 8])), "size in y,", "planes]`"),
        ] {
            expect(&wrong, &[missing, size]);
        }
    }

    #[test]
    fn a_grid_extends_in_no_dimension_that_the_body_does_not_read() {
        for right in [
            // The body reads CUDA's variables directly, or its text does not show which position it reads.
            launch("blockIdx.y * cols + threadIdx.x", None, Grid::blocks([2, 3]).threads(32)),
            launch("auto at = blockIdx;", None, [8, 8, 8]),
            launch("threadIdx.z", Some([1, 1, 8]), Grid::blocks(1)),
            launch("thread_index_y()", None, Grid::from([1, 64]).threads([1, 256])),
            // The body reads no position, so it is written for one thread.
            launch("", None, 1),
            launch("out[0] = blockDim.x;", None, Grid::blocks(1).threads(32)),
            launch(XZ, Some([8, 1, 8]), [64, 1, 64]),
        ] {
            assert_eq!(right, "");
        }
        let (x, xy) = ("in x alone", "in x and y alone");
        for (wrong, parts) in [
            (
                launch(X, None, [320, 240]),
                [x, "320x240 elements has threads that differ in y", "a grid of 76800,"],
            ),
            // With the default block, a launch of `[64, 1]` has blocks with several threads in y.
            (launch(X, None, [64, 1]), [x, "`thread_index_y()`", "launch it with a grid of 64,"]),
            (launch(X, None, [8, 4, 2]), [x, "differ in y", "launch it with a grid of 64,"]),
            (launch("", None, [8, 8]), ["reads no place of its thread", "in y", "grid of 64,"]),
            (launch(XY, None, [4, 3, 2]), [xy, "differ in z", "with a size in x and y alone,"]),
            (
                launch(X, None, Grid::blocks([2, 3])),
                [x, "2x3 blocks", "`Grid::blocks(n)` with one number,"],
            ),
            (
                launch(X, None, Grid::from(64).threads([32, 8])),
                [x, "32x8 threads per block", "leave the size in y out of `.threads(…)`"],
            ),
            (
                launch(X, Some([16, 16, 1]), 64),
                [x, "differ in y", "leave the size in y out of the kernel's option `threads(…)`"],
            ),
            (
                launch(XZ, None, [64, 1, 64]),
                ["in x and z alone", "differ in y", "1 in y, as the size and in `.threads(…)`"],
            ),
            (
                launch("threadIdx.y", None, Grid::blocks(1).threads([1, 2, 2])),
                ["in y alone", "differ in z", "leave the size in z out"],
            ),
            (
                launch("thread_index_y()", None, [8, 8]),
                ["in y alone", "differ in x", "1 in x, as the size and in `.threads(…)`"],
            ),
        ] {
            expect(&wrong, &parts);
        }
    }
}
