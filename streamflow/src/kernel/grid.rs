//! The grid of a launch: its blocks and threads.

use std::fmt;

use crate::driver::LoadedKernel;
use crate::error::{Error, Result};

/// The most blocks in x, y and z (CUDA programming guide, *Technical specifications per compute
/// capability*: the same from 3.0 on).
const MAX_BLOCKS: [u64; 3] = [i32::MAX as u64, 65_535, 65_535];

/// The most threads of a block in x, y and z (CUDA programming guide, *Technical specifications per compute capability*). The kernel limits their product, see
/// [`LoadedKernel::max_block_size`].
const MAX_THREADS: [u64; 3] = [1024, 1024, 64];

/// The threads that a launch runs on.
///
/// Sizes are in the order of CUDA's `dim3`, x first: an image is `[cols, rows]`. Each size is a `usize`, `[usize; 2]` or `[usize;
/// 3]`. A launch also takes such a size as its grid, in elements.
///
/// ```
/// # use streamflow::Grid;
/// let one_thread_per_element = Grid::elements(1_000_000);
/// let the_same = Grid::from(1_000_000);
/// let image = Grid::elements([3840, 2160]);
/// let one_block_per_row = Grid::blocks(2160).threads(256).shared_bytes(1024);
/// ```
///
/// Without [`threads`](Grid::threads) a block has the size that the kernel was written for
/// (`#[kernel(threads(256), …)]`), or else the one that keeps the device busiest with this kernel. The last block
/// may reach beyond the elements, so a kernel compares its index with the length. With zero elements or blocks
/// nothing is launched. A grid that is too small for the slices that a kernel writes is refused, and so is one with other
/// dimensions than the CUDA body reads: see *The grid* in the documentation of [`#[kernel]`](macro@crate::kernel).
#[must_use = "pass it to a launch"]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Grid {
    size: [u64; 3],
    /// Whether `size` counts blocks. If `false`, `size` counts elements.
    blocks: bool,
    dimensions: u8,
    threads: Option<[u64; 3]>,
    shared_bytes: u64,
}

/// The types that a launch takes as its grid: those that convert into a [`Grid`]. The trait carries rustc's error text
/// for other types.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not the grid of a launch",
    label = "not a number of elements as `usize`, nor a `Grid`",
    note = "a grid is a `usize`, as `data.len()` is, `[usize; 2]`, `[usize; 3]` or a `Grid`; write `n as usize` for another number"
)]
pub trait IntoGrid: Into<Grid> {}

#[diagnostic::do_not_recommend]
impl<T: Into<Grid>> IntoGrid for T {}

impl From<usize> for Grid {
    #[inline]
    fn from(x: usize) -> Self {
        Self::of([x, 1, 1], 1)
    }
}

impl From<[usize; 2]> for Grid {
    #[inline]
    fn from([x, y]: [usize; 2]) -> Self {
        Self::of([x, y, 1], 2)
    }
}

impl From<[usize; 3]> for Grid {
    #[inline]
    fn from(size: [usize; 3]) -> Self {
        Self::of(size, 3)
    }
}

impl fmt::Display for Grid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let size = |[x, y, z]: [u64; 3]| match (y, z) {
            (1, 1) => x.to_string(),
            (_, 1) => format!("{x}x{y}"),
            _ => format!("{x}x{y}x{z}"),
        };
        let unit = if self.blocks { "blocks" } else { "elements" };
        write!(f, "a grid of {} {unit}", size(self.size))?;
        if let Some(threads) = self.threads {
            write!(f, ", {} threads per block", size(threads))?;
        }
        match self.shared_bytes {
            0 => Ok(()),
            bytes => write!(f, ", {bytes} bytes of shared memory per block"),
        }
    }
}

/// A grid as the driver takes it. The fields are tuples and not arrays: the compiler writes an array in pieces of one size and
/// right afterwards reads it in pieces of another, and the processor stalls at such reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct GridShape {
    /// Blocks in x, y and z.
    pub(super) grid: (u32, u32, u32),
    /// Threads per block in x, y and z.
    pub(super) block: (u32, u32, u32),
    /// Bytes of dynamic shared memory per block.
    pub(super) shared_bytes: u32,
}

/// The properties of a grid that decide how its sizes are read: how many dimensions they have, and whether they count blocks
/// or elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Form {
    dimensions: u8,
    is_in_blocks: bool,
    has_threads: bool,
}

impl Form {
    /// A form that no grid has, since a grid has at least one dimension.
    pub(super) const NONE: Self = Self { dimensions: 0, is_in_blocks: false, has_threads: false };
}

impl Grid {
    /// A grid with at least one thread per element. A `size` that is a [`Grid`] is returned unchanged.
    pub fn elements(size: impl IntoGrid) -> Self {
        size.into()
    }

    /// A grid of this number of blocks. If the argument is a [`Grid`], only its size is used.
    pub fn blocks(size: impl IntoGrid) -> Self {
        let Self { size, dimensions, .. } = size.into();
        Self { size, blocks: true, dimensions, threads: None, shared_bytes: 0 }
    }

    /// Sets the threads per block. If the argument is a [`Grid`], only its size is used.
    pub fn threads(mut self, size: impl IntoGrid) -> Self {
        self.threads = Some(size.into().size);
        self
    }

    /// A grid with at least one thread per element. The sizes are in the order x, y, z.
    #[inline]
    fn of(size: [usize; 3], dimensions: u8) -> Self {
        let size = size.map(|length| length as u64);
        Self { size, blocks: false, dimensions, threads: None, shared_bytes: 0 }
    }

    /// Bytes of dynamic shared memory per block (`extern __shared__`). The default is 0 bytes. With 0 bytes, launching a kernel
    /// with a CUDA body that declares such memory is an [`Error::Grid`]. A body that uses the memory only in some launches calls
    /// `shared_bytes()` for the size, as in `if (shared_bytes() > 0)`; then 0 bytes are permitted.
    pub fn shared_bytes(mut self, bytes: usize) -> Self {
        self.shared_bytes = bytes as u64;
        self
    }

    /// The grid as the driver takes it, for a kernel that is loaded on a device. `None` if the grid is illegal or empty;
    /// [`refuse`](Self::refuse) then returns the reason. `fixed` is the block size that the kernel was written for, if any.
    #[inline(always)]
    pub(super) fn shape(
        &self,
        loaded: &LoadedKernel,
        fixed: Option<[u32; 3]>,
    ) -> Option<GridShape> {
        let [bx, by, bz] = self.block(loaded, fixed)?;
        let most = u64::from(loaded.max_block_size);
        let blocks = |axis, threads| self.blocks_in(axis, threads);
        let (x, y, z) = (blocks(0, bx), blocks(1, by), blocks(2, bz));
        let is_legal = is_legal([bx, by, bz], most)
            && is_within(x, MAX_BLOCKS[0])
            && is_within(y, MAX_BLOCKS[1])
            && is_within(z, MAX_BLOCKS[2])
            && self.shared_bytes <= u64::from(u32::MAX);
        // Each number is within a limit below 2³², so the conversions lose nothing.
        is_legal.then_some(GridShape {
            grid: (x as u32, y as u32, z as u32),
            block: (bx as u32, by as u32, bz as u32),
            shared_bytes: self.shared_bytes as u32,
        })
    }

    /// The size, in elements or in blocks.
    pub(super) fn size(&self) -> [u64; 3] {
        self.size
    }

    /// The size in x.
    #[inline(always)]
    pub(super) fn width(&self) -> u64 {
        self.size[0]
    }

    /// The properties of the grid that decide how its numbers are read.
    #[inline(always)]
    pub(super) fn form(&self) -> Form {
        let has_threads = self.threads.is_some();
        Form { dimensions: self.dimensions, is_in_blocks: self.blocks, has_threads }
    }

    /// Whether this grid equals another grid of the same [form](Self::form), which an earlier launch of the thread had. The
    /// arguments are the size and the shape of that other grid.
    #[inline(always)]
    pub(super) fn is_of(&self, [x, y, z]: [u64; 3], shape: GridShape) -> bool {
        // If the launch sets the threads of a block, they must be those of the remembered shape.
        let (bx, by, bz) = shape.block;
        let is_block = |[tx, ty, tz]: [u64; 3]| {
            tx == u64::from(bx) && ty == u64::from(by) && tz == u64::from(bz)
        };
        let [ax, ay, az] = self.size;
        (ax == x && ay == y && az == z)
            && self.threads.is_none_or(is_block)
            && self.shared_bytes == u64::from(shape.shared_bytes)
    }

    /// The number of elements that the grid is for: the product of a size that counts elements, or the number of all threads for
    /// a size that counts blocks.
    #[inline(always)]
    pub(super) fn elements_covered(&self, loaded: &LoadedKernel, fixed: Option<[u32; 3]>) -> u64 {
        let product = |[x, y, z]: [u64; 3]| x.saturating_mul(y).saturating_mul(z);
        let size = product(self.size);
        if !self.blocks {
            return size;
        }
        // With a block that will be refused, the grid covers no element.
        size.saturating_mul(self.block(loaded, fixed).map_or(0, product))
    }

    /// The number of blocks and the number of threads per block, along each axis. `None` if the block will be refused.
    pub(super) fn blocks_and_threads(
        &self,
        loaded: &LoadedKernel,
        fixed: Option<[u32; 3]>,
    ) -> Option<[(u64, u64); 3]> {
        let block = self.block(loaded, fixed)?;
        Some([0, 1, 2].map(|axis| (self.blocks_in(axis, block[axis]), block[axis])))
    }

    /// Whether the launch gives each block dynamic shared memory.
    pub(super) fn has_shared_bytes(&self) -> bool {
        self.shared_bytes > 0
    }

    /// Whether the grid has a size along an axis, or its blocks have several threads along the axis.
    pub(super) fn extends_in(
        &self,
        axis: usize,
        loaded: &LoadedKernel,
        fixed: Option<[u32; 3]>,
    ) -> bool {
        self.has_dimension(axis) || self.block(loaded, fixed).is_none_or(|block| block[axis] > 1)
    }

    /// Whether the grid was made with a size along this axis.
    pub(super) fn has_dimension(&self, axis: usize) -> bool {
        axis < self.dimensions.into()
    }

    /// Whether the grid may have several threads along an axis.
    pub(super) fn has_several_in(
        &self,
        axis: usize,
        loaded: &LoadedKernel,
        fixed: Option<[u32; 3]>,
    ) -> bool {
        self.size[axis] > 1 || self.block(loaded, fixed).is_none_or(|block| block[axis] > 1)
    }

    /// Text of an error: the launch to use instead, without a size along this axis (y or z) and the later axes.
    #[cold]
    pub(super) fn without(&self, axis: usize) -> String {
        let product = self.size.iter().fold(1_u64, |product, size| product.saturating_mul(*size));
        match (self.blocks, axis) {
            (false, 1) => format!("launch it with a grid of {product}"),
            (true, 1) => "launch it on `Grid::blocks(n)` with one number".to_owned(),
            _ => "launch it with a size in x and y alone".to_owned(),
        }
    }

    /// Text of an error: the launch to use for this number of elements. A kernel that is launched in several dimensions reads its
    /// index in each of them, so a grid of one dimension would be wrong and is not suggested.
    #[cold]
    pub(super) fn enough(&self, elements: u64) -> String {
        if self.dimensions == 1 {
            return format!("launch it with a grid of {elements}");
        }
        let sizes: Vec<_> =
            self.size.iter().take(self.dimensions.into()).map(u64::to_string).collect();
        let unit = if self.blocks { " blocks" } else { "" };
        let sizes = sizes.join(" x ");
        format!(
            "launch it with a grid of {elements} elements in all; this launch has {sizes}{unit}"
        )
    }

    /// The threads of a block; `None` if the launch sets other threads than those that the kernel is written for.
    #[inline(always)]
    fn block(&self, loaded: &LoadedKernel, fixed: Option<[u32; 3]>) -> Option<[u64; 3]> {
        match (self.threads, fixed) {
            (None, None) => Some(self.default_block(loaded.block_size)),
            (Some([x, y, z]), None) => Some([x, y, z]),
            (requested, Some([x, y, z])) => {
                let [x, y, z] = [u64::from(x), u64::from(y), u64::from(z)];
                let is_same = requested.is_none_or(|[ax, ay, az]| ax == x && ay == y && az == z);
                is_same.then_some([x, y, z])
            }
        }
    }

    /// The number of blocks along an axis. Most sizes are 1 in y and z, for which no division is made: a division would take as
    /// long as the rest of the calculation. Blocks of 0 threads are refused by other code.
    #[inline(always)]
    fn blocks_in(&self, axis: usize, threads: u64) -> u64 {
        let size = self.size[axis];
        if self.blocks || size <= 1 || threads == 0 { size } else { size.div_ceil(threads) }
    }

    /// Returns why [`shape`](Self::shape) has returned `None`. An empty grid with a legal block is `Ok`, since its launch does
    /// nothing.
    ///
    /// # Errors
    /// [`Error::Grid`] when CUDA or this kernel does not permit the grid.
    #[cold]
    #[inline(never)]
    pub(super) fn refuse(
        &self,
        kernel: &str,
        loaded: &LoadedKernel,
        fixed: Option<[u32; 3]>,
    ) -> Result<()> {
        let most = u64::from(loaded.max_block_size);
        let problem = match self.block(loaded, fixed) {
            None => other_block(self.threads.unwrap_or_default(), fixed.unwrap_or_default()),
            Some(block) if !is_legal(block, most) => illegal_block(block, most),
            Some(_) if self.size.contains(&0) => return Ok(()),
            Some(block) => {
                let [x, y, z] = [0, 1, 2].map(|axis| self.blocks_in(axis, block[axis]));
                if x > MAX_BLOCKS[0] || y > MAX_BLOCKS[1] || z > MAX_BLOCKS[2] {
                    too_many_blocks([x, y, z])
                } else {
                    format!(
                        "{} bytes of shared memory per block, but a launch takes at most {}",
                        self.shared_bytes,
                        u32::MAX
                    )
                }
            }
        };
        Err(Error::Grid { kernel: kernel.into(), problem })
    }

    /// The block of `size` threads for a launch that does not set the block. In two and three dimensions the rows of the block
    /// have the width of a warp, so that neighbours in x read neighbouring memory.
    fn default_block(&self, size: u32) -> [u64; 3] {
        let size = u64::from(size.max(1));
        if self.dimensions == 1 {
            return [size, 1, 1];
        }
        let wide = size.min(32);
        [wide, size / wide, 1]
    }
}

/// Whether a number is from 1 to `most`.
#[inline(always)]
fn is_within(number: u64, most: u64) -> bool {
    // One comparison covers both ends, since 0 wraps to the largest number.
    number.wrapping_sub(1) < most
}

/// Whether a block may have this number of threads along each axis. `most` is the kernel's limit for their product.
#[inline(always)]
fn is_legal([x, y, z]: [u64; 3], most: u64) -> bool {
    // The product does not overflow: it is computed only if all three numbers are within their limits.
    is_within(x, MAX_THREADS[0])
        && is_within(y, MAX_THREADS[1])
        && is_within(z, MAX_THREADS[2])
        && x * y * z <= most
}

#[cold]
fn other_block([ax, ay, az]: [u64; 3], [x, y, z]: [u32; 3]) -> String {
    format!(
        "the launch has blocks of {ax}x{ay}x{az} threads, but the kernel is written for blocks of \
         {x}x{y}x{z}; leave `threads` out"
    )
}

/// The error text for a block that is not [legal](is_legal).
#[cold]
fn illegal_block(block: [u64; 3], most: u64) -> String {
    if block.contains(&0) {
        return "0 threads per block; a block has at least one".into();
    }
    let mut axes = ["x", "y", "z"].into_iter().zip(block).zip(MAX_THREADS);
    if let Some(((axis, threads), most)) = axes.find(|((_, threads), most)| threads > most) {
        return format!("{threads} threads per block in {axis}, but CUDA permits {most}");
    }
    let threads: u64 = block.iter().product();
    format!("{threads} threads per block, but this kernel can have {most}")
}

#[cold]
fn too_many_blocks(grid: [u64; 3]) -> String {
    let mut axes = ["x", "y", "z"].into_iter().zip(grid).zip(MAX_BLOCKS);
    let (axis, blocks, most) = axes
        .find(|((_, blocks), most)| blocks > most)
        .map_or(("x", grid[0], MAX_BLOCKS[0]), |((axis, blocks), most)| (axis, blocks, most));
    format!(
        "{blocks} blocks in {axis}, but CUDA permits {most}; use more threads per block, or a loop over \
         `thread_count()` in the kernel"
    )
}

#[cfg(test)]
mod tests;
