#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use super::*;
use crate::driver::{DeviceId, RawFunction};

fn resolve(grid: impl Into<Grid>) -> Result<Option<GridShape>> {
    let function = RawFunction::new(DeviceId::default(), 0);
    let loaded = LoadedKernel { function, block_size: 256, max_block_size: 768 };
    resolve_for("blur", grid.into(), &loaded, None)
}

fn resolve_for(
    kernel: &str,
    grid: Grid,
    loaded: &LoadedKernel,
    fixed: Option<[u32; 3]>,
) -> Result<Option<GridShape>> {
    match grid.shape(loaded, fixed) {
        None => grid.refuse(kernel, loaded, fixed).map(|()| None),
        shape => Ok(shape),
    }
}

fn shape(grid: impl Into<Grid>) -> ([u32; 3], [u32; 3]) {
    let shape = resolve(grid).unwrap().unwrap();
    (shape.grid.into(), shape.block.into())
}

fn problem(grid: impl Into<Grid>) -> String {
    resolve(grid).unwrap_err().to_string()
}

#[test]
fn a_grid_covers_every_element() {
    assert_eq!(shape(1), ([1, 1, 1], [256, 1, 1]));
    assert_eq!(shape(256), ([1, 1, 1], [256, 1, 1]));
    assert_eq!(shape(257), ([2, 1, 1], [256, 1, 1]));
    assert_eq!(shape([33, 9]), ([2, 2, 1], [32, 8, 1]));
    assert_eq!(shape([33, 9, 5]), ([2, 2, 5], [32, 8, 1]));
    assert_eq!(shape(Grid::elements(1000).threads(100)), ([10, 1, 1], [100, 1, 1]));
    // The number of elements does not fit into 32 bits.
    assert_eq!(shape(6_000_000_000), ([23_437_500, 1, 1], [256, 1, 1]));
}

#[test]
fn a_grid_of_blocks_is_launched_as_given() {
    let grid = Grid::blocks([7, 5]).threads([16, 16]).shared_bytes(4096);
    let expected = GridShape { grid: (7, 5, 1), block: (16, 16, 1), shared_bytes: 4096 };
    assert_eq!(resolve(grid), Ok(Some(expected)));
    assert_eq!(shape(Grid::blocks(3)), ([3, 1, 1], [256, 1, 1]));
}

#[test]
fn the_text_of_a_grid_has_what_was_given() {
    assert_eq!(Grid::from(33).to_string(), "a grid of 33 elements");
    assert_eq!(Grid::from([3, 1, 2]).to_string(), "a grid of 3x1x2 elements");
    let text = "a grid of 7x5 blocks, 16x16 threads per block, 64 bytes of shared memory per block";
    assert_eq!(Grid::blocks([7, 5]).threads([16, 16]).shared_bytes(64).to_string(), text);
}

#[test]
fn an_empty_grid_launches_nothing() {
    assert_eq!(resolve(0), Ok(None));
    assert_eq!(resolve([5, 0]), Ok(None));
    assert_eq!(resolve(Grid::blocks(0).threads(32)), Ok(None));
}

#[test]
fn errors_name_the_exceeded_limit() {
    let text = problem(Grid::blocks(1 << 31));
    assert!(text.contains("`blur`") && text.contains("2147483648 blocks in x"), "{text}");
    assert!(text.contains("permits 2147483647"), "{text}");
    assert!(problem(usize::MAX).contains("blocks in x"));
    assert!(problem(Grid::blocks([1, 65_536])).contains("65536 blocks in y"));
    assert!(problem(Grid::blocks(1).threads(0)).contains("0 threads"));
    assert!(problem(Grid::blocks(0).threads(0)).contains("0 threads"));
    assert!(problem(Grid::blocks(1).threads(1025)).contains("1025 threads per block in x"));
    assert!(problem(Grid::blocks(1).threads(769)).contains("this kernel can have 768"));
    assert!(problem(Grid::blocks(1).threads([32, 32])).contains("1024 threads"));
    assert!(problem(Grid::blocks(1).threads([1, 1, 65])).contains("in z"));
    assert!(problem(Grid::blocks(1).shared_bytes(1 << 32)).contains("shared memory"));
}

#[test]
fn a_small_kernel_still_gets_a_block_in_two_dimensions() {
    let function = RawFunction::new(DeviceId::default(), 0);
    let loaded = LoadedKernel { function, block_size: 1, max_block_size: 1 };
    let shape = resolve_for("serial", Grid::from([3, 2]), &loaded, None).unwrap().unwrap();
    assert_eq!((shape.grid, shape.block), ((3, 2, 1), (1, 1, 1)));
}

#[test]
fn a_kernels_own_block_size_is_kept() {
    let function = RawFunction::new(DeviceId::default(), 0);
    let loaded = LoadedKernel { function, block_size: 512, max_block_size: 768 };
    let resolve = |grid: Grid, fixed| resolve_for("sum_rows", grid, &loaded, Some(fixed));
    let block = |grid, fixed| <[u32; 3]>::from(resolve(grid, fixed).unwrap().unwrap().block);
    assert_eq!(block(Grid::elements(1000), [256, 1, 1]), [256, 1, 1]);
    assert_eq!(block(Grid::blocks([3, 4]), [16, 8, 2]), [16, 8, 2]);
    assert_eq!(block(Grid::blocks(3).threads(256), [256, 1, 1]), [256, 1, 1]);
    let text = resolve(Grid::blocks(3).threads(128), [256, 1, 1]).unwrap_err().to_string();
    for part in ["`sum_rows`", "128x1x1", "256x1x1"] {
        assert!(text.contains(part), "{text}");
    }
    // A wrong block size is refused even if the grid is empty, or if the block has the same number of threads in another shape.
    assert!(resolve(Grid::blocks(0).threads(512), [256, 1, 1]).is_err());
    assert!(resolve(Grid::blocks(3).threads([16, 16]), [256, 1, 1]).is_err());
    let text = resolve(Grid::blocks(3), [1024, 1, 1]).unwrap_err().to_string();
    assert!(text.contains("this kernel can have 768"), "{text}");
}
