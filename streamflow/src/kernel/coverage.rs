//! Whether a grid has enough threads for the elements that a kernel writes.
//!
//! The simulator runs a kernel's Rust body once per launch, whatever the grid. With a grid that is too small, the simulator would
//! give right data, and a GPU would leave elements unwritten. So a launch with such a grid is refused on both.

use super::passing::Longest;
use super::{Axes, Grid, Passing, axes};
use crate::driver::LoadedKernel;
use crate::error::{Error, Result};

/// The grids with which a kernel writes all elements of its `&mut` slices.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Coverage {
    /// The grid has at least as many elements as the longest `&mut` slice, and each thread writes one element of each
    /// slice. A launch with a smaller grid is refused.
    #[default]
    Elementwise,
    /// `grid_stride`: any grid that is not empty, since the body loops over the elements. An empty grid is refused if
    /// there are elements.
    GridStride,
    /// `partial`: the body does not write every element, or a thread writes several of them. No grid is refused.
    Partial,
}

impl Coverage {
    /// The most elements of a slice that the kernel may write with a grid that has `covered` elements.
    pub(super) fn most_written(self, covered: u64) -> u64 {
        match self {
            Self::Elementwise => covered,
            Self::GridStride if covered == 0 => 0,
            Self::GridStride | Self::Partial => u64::MAX,
        }
    }
}

/// Refuses a launch with a grid that is too small for the kernel's `&mut` slices. `threads` is the block size that
/// the kernel is written for.
pub(super) fn check(
    (name, loaded, threads): (&str, &LoadedKernel, Option<[u32; 3]>),
    (coverage, axes): (Coverage, Axes),
    grid: &Grid,
    passing: &Passing<'_>,
) -> Result<()> {
    let longest = passing.longest_written().len;
    if longest <= coverage.most_written(axes::covered((loaded, threads), axes, grid)) {
        return Ok(());
    }
    refuse((name, loaded, threads), (coverage, axes), grid, passing)
}

const OPTIONS: &str = "A kernel that loops over its elements has the option `grid_stride`, and one that \
                       writes only some of them has `partial`";

#[cold]
#[inline(never)]
fn refuse(
    (name, loaded, threads): (&str, &LoadedKernel, Option<[u32; 3]>),
    (coverage, axes): (Coverage, Axes),
    grid: &Grid,
    passing: &Passing<'_>,
) -> Result<()> {
    // If no launch may have this grid, whatever the slices, `Grid::refuse` returns the error.
    if grid.shape(loaded, threads).is_none() {
        grid.refuse(name, loaded, threads)?;
    }
    let Longest { len: longest, argument, is_view } = passing.longest_written();
    let covered = axes::covered((loaded, threads), axes, grid);
    let is_small = grid.elements_covered(loaded, threads) < longest;
    let alike = if is_small { None } else { axes::alike((loaded, threads), axes, grid) };
    let problem = match (coverage, covered) {
        (Coverage::GridStride, _) => format!(
            "it is empty, so nothing of `{argument}`, whose length is {longest}, would be written; launch it with at \
             least one thread, or not at all"
        ),
        (_, 0) => format!(
            "it is empty, so nothing of `{argument}`, whose length is {longest}, would be written; launch it with a \
             grid of {longest}, or not at all. {OPTIONS}"
        ),
        _ if alike.is_some() => format!(
            "a GPU would write {covered} elements of `{argument}`, whose length is {longest}: {}. {OPTIONS}",
            alike.unwrap_or_default()
        ),
        _ => {
            // A view has as many elements as the product of its dimensions.
            let part = match is_view {
                true => "a smaller view".to_owned(),
                false => format!("the part `{argument}.slice_mut(..{covered})`"),
            };
            let launch = grid.enough(longest);
            format!(
                "it is for {covered} elements, so a GPU would not write the rest of `{argument}`, whose length is \
                 {longest}; {launch}, or pass only {part}. {OPTIONS}"
            )
        }
    };
    Err(Error::Grid { kernel: name.into(), problem })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
    use super::*;
    use crate::driver::{DeviceId, RawFunction};
    use crate::{Buffer, Platform, device};

    /// Launches a kernel whose longest written slice has `written` elements, and returns the error text if it is refused.
    fn launch(coverage: Coverage, grid: impl Into<Grid>, written: usize) -> Result<(), String> {
        let platform = Platform::host().build().unwrap();
        let stream = platform.default_stream(device(0)).unwrap();
        let mut short: Buffer<f32> = platform.buffer(written.min(1), &stream).unwrap();
        let mut long: Buffer<f64> = platform.buffer(written, &stream).unwrap();
        let read: Buffer<u8> = platform.buffer(written + 1000, &stream).unwrap();
        let mut passing = Passing::new();
        passing.write("short", &mut short);
        passing.write("long", &mut long);
        passing.read("read", &read);
        let function = RawFunction::new(DeviceId::default(), 0);
        let loaded = LoadedKernel { function, block_size: 256, max_block_size: 1024 };
        let checked =
            check(("blur", &loaded, None), (coverage, Axes::UNKNOWN), &grid.into(), &passing);
        checked.map_err(|error| error.to_string())
    }

    #[test]
    fn a_grid_of_elements_covers_no_more_than_it_names() {
        use Coverage::Elementwise;
        for enough in [8, 9, 3000] {
            assert_eq!(launch(Elementwise, enough, 8), Ok(()));
        }
        assert_eq!(launch(Elementwise, [4, 2], 8), Ok(()));
        assert_eq!(launch(Elementwise, [2, 2, 2], 8), Ok(()));
        assert_eq!(launch(Elementwise, 0, 0), Ok(()));
        // A block has 256 threads, more than 8, but the number of elements in the launch is what counts.
        for too_small in [Grid::from(7), [7, 1].into(), [2, 3].into(), 0.into()] {
            let text = launch(Elementwise, too_small, 8).unwrap_err();
            assert!(
                text.starts_with("kernel `blur`") && text.contains("`long`, whose length is 8"),
                "{text}"
            );
            assert!(text.contains("`grid_stride`") && text.contains("`partial`"), "{text}");
        }
        assert!(launch(Elementwise, 3, 8).unwrap_err().contains("for 3 elements"));
    }

    #[test]
    fn the_error_names_each_dimension_of_the_launch() {
        for (grid, expected) in [
            (Grid::from(100), "launch it with a grid of 16384, or pass"),
            (
                [128, 64].into(),
                "a grid of 16384 elements in all; this launch has 128 x 64, or pass",
            ),
            (
                [128, 8, 2].into(),
                "a grid of 16384 elements in all; this launch has 128 x 8 x 2, or",
            ),
            (Grid::blocks([2, 1]), "16384 elements in all; this launch has 2 x 1 blocks, or pass"),
        ] {
            let text = launch(Coverage::Elementwise, grid, 16384).unwrap_err();
            assert!(text.contains(expected), "{text}");
        }
    }

    #[test]
    fn a_grid_of_blocks_covers_all_its_threads() {
        use Coverage::Elementwise;
        assert_eq!(launch(Elementwise, Grid::blocks(1), 256), Ok(()));
        assert!(launch(Elementwise, Grid::blocks(1), 257).is_err());
        assert_eq!(launch(Elementwise, Grid::blocks(2).threads(32), 64), Ok(()));
        assert!(launch(Elementwise, Grid::blocks(2).threads(32), 65).is_err());
        assert_eq!(launch(Elementwise, Grid::blocks([2, 2]).threads([4, 4]), 64), Ok(()));
        assert!(launch(Elementwise, Grid::blocks(0), 1).is_err());
        // The product of these sizes does not fit into 64 bits.
        assert_eq!(launch(Elementwise, Grid::blocks([usize::MAX, 2]), 300), Ok(()));
    }

    #[test]
    fn a_kernel_that_loops_takes_any_grid_but_an_empty_one() {
        assert_eq!(launch(Coverage::GridStride, 1, 1000), Ok(()));
        assert_eq!(launch(Coverage::GridStride, 0, 0), Ok(()));
        assert!(launch(Coverage::GridStride, 0, 1000).unwrap_err().contains("it is empty"));
        assert_eq!(launch(Coverage::Partial, 1, 1000), Ok(()));
        assert_eq!(launch(Coverage::Partial, 0, 1000), Ok(()));
    }

    #[test]
    fn an_illegal_grid_has_its_own_error() {
        let text = launch(Coverage::Elementwise, Grid::blocks(1).threads(0), 8).unwrap_err();
        assert!(text.contains("0 threads per block"), "{text}");
    }
}
