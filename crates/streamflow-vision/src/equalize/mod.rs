//! `Equalize`: contrast from the histogram.

use std::fmt;

use streamflow::Failure;
use streamflow::prelude::*;

use crate::format::Grey;
use crate::histogram::{check_pixels, count};
use crate::image::{Image, Info};
use crate::lut::replace;

mod tiles;

use tiles::{Tiles, tile_tables};

/// Spreads the values of grey images over the whole range, in place of a range that few values fill.
///
/// - [`Equalize::new`] uses the histogram of the image, with the numbers of `cv2.equalizeHist`.
/// - [`Equalize::adaptive`] uses those of tiles, and interpolates between them (CLAHE), with the numbers of `cv2.createCLAHE`.
///
/// `skimage.exposure.equalize_adapthist` is another algorithm of that name: it first stretches the image to its own least and largest
/// value, takes the limit as a part of a tile's pixels, and gives the pixels above it to the bins below it, over and over until none is
/// left. With the same tiles and limit, the results for a slope with noise differ by 23 grey values in the mean.
///
/// ```
/// use streamflow::prelude::*;
/// use streamflow::testing::OperatorHarness;
/// use streamflow_vision::{Equalize, Image};
///
/// # fn main() -> Result<()> {
/// let platform = Platform::detect()?;
/// let samples = platform.upload(&[100_u8, 101, 102, 102])?.reshape([2, 2])?;
/// let mut equalize = OperatorHarness::new(&platform, Equalize::new())?;
/// equalize.push(|ports| &mut ports.image, Image::new(samples, 2, 2)?)?;
/// assert!(equalize.tick()?);
/// let sent = equalize.take(|ports| &mut ports.equalized).expect("it sends in each tick");
/// assert_eq!(equalize.stream().download_blocking(sent.message.samples())?, [0, 85, 255, 255]);
/// # Ok(equalize.stop()?)
/// # }
/// ```
#[operator(no_new, unlisted)]
#[derive(Debug)]
pub struct Equalize {
    /// The images, of fewer than 2³² pixels.
    #[input]
    image: &Image<Grey<u8>>,
    /// The images with more contrast, without padding.
    #[output]
    equalized: Image<Grey<u8>>,
    /// The tiles; `None` for the histogram of the image.
    adaptive: Option<Adaptive>,
}

/// The options of tiles.
#[derive(Clone, Copy)]
struct Adaptive {
    tiles: [usize; 2],
    clip_limit: f64,
}

impl Equalize {
    /// Creates an operator that uses the histogram of each image, as `cv2.equalizeHist`: the least value that an image has becomes 0,
    /// and the largest 255. An image of one value stays as it is.
    #[allow(clippy::new_without_default, reason = "operators have no `Default`")]
    pub fn new() -> Self {
        Self { adaptive: None }
    }

    /// Creates an operator that uses the histograms of `tiles[0]` by `tiles[1]` tiles, across and down, as `cv2.createCLAHE(clip_limit,
    /// tiles).apply`. A bin of a tile counts at most `clip_limit` times the mean of all bins, and the rest goes to all bins, so that noise in
    /// even areas is not amplified; a limit of 0 is none. OpenCV's defaults are 8 by 8 tiles and 40, and 2 to 4 are common limits.
    ///
    /// Where the tiles don't divide the image, it is mirrored at its right and lower edge up to the next multiple, as by OpenCV: if one side
    /// does not divide, both grow, the other one by a whole number of tiles.
    ///
    /// # Errors
    /// An error with a text for no tiles, for more than 2¹⁶ on a side, and for a limit that is negative or not finite.
    pub fn adaptive(tiles: [usize; 2], clip_limit: f64) -> Result<Self> {
        if tiles.iter().any(|count| *count == 0 || *count > 1 << 16) {
            let [across, down] = tiles;
            return Err(Failure::msg(format!(
                "`Equalize` can't have {across} × {down} tiles; give it 1 to 65,536 across and down"
            )));
        }
        if !(clip_limit >= 0.0 && clip_limit.is_finite()) {
            return Err(Failure::msg(format!(
                "`Equalize` can't have a clip limit of {clip_limit}; give it a finite one from 0 on, where 0 is no limit"
            )));
        }
        Ok(Self { adaptive: Some(Adaptive { tiles, clip_limit }) })
    }
}

#[diagnostic::do_not_recommend]
impl Compute for Equalize {
    fn compute(&mut self, io: Self::Io<'_>, cx: &ExecutionContext) -> Result<()> {
        let (image, stream) = io.image.receive_with_stream(cx)?;
        let info @ Info { width, height, .. } = image.info();
        check_pixels(image, "Equalize")?;
        let mut out = cx.tensor([height, width], &stream)?;
        if width == 0 || height == 0 {
            return io.equalized.emit(Image::of(out, info));
        }
        let Some(Adaptive { tiles, clip_limit }) = self.adaptive else {
            let counts = count(image, 256, 0.0, 256.0, "Equalize", cx, &stream)?;
            let mut table = cx.tensor([256], &stream)?;
            stream.map::<equal_table>((&mut table, &counts, (width * height) as u32))?;
            stream.map::<replace<u8>>((&mut out, image.view(), &table, 1, 0))?;
            return io.equalized.emit(Image::of(out, info));
        };
        let tiles = Tiles::of([width, height], tiles, clip_limit)?;
        let mut tables = cx.tensor([tiles.count(), 256], &stream)?;
        stream.launch::<tile_tables>(
            Grid::blocks(tiles.count()),
            (
                &mut tables,
                image.samples(),
                width,
                height,
                image.pitch(),
                tiles.across,
                tiles.size[0],
                tiles.size[1],
                tiles.clip,
                tiles.scale,
            ),
        )?;
        stream.map::<between_tables>((&mut out, image.view(), &tables, tiles.grid()))?;
        io.equalized.emit(Image::of(out, info))
    }
}

impl fmt::Debug for Adaptive {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [across, down] = self.tiles;
        write!(f, "{across} × {down} tiles, limit {}", self.clip_limit)
    }
}

/// The value that takes the place of `value`: those below it, as a part of those that are not the least one, in 255ths. An image of one
/// value keeps it.
#[kernel(map)]
fn equal_table(out: &mut u8, counts: &[u32], total: u32, #[at] value: usize) {
    let mut first = 0;
    while first < 255 && counts[first] == 0 {
        first += 1;
    }
    let others = total - counts[first];
    let mut sum = 0_u32;
    for below in 0..256_usize {
        if below > first && below <= value {
            sum += counts[below];
        }
    }
    let scaled = sum as f32 * (255.0 / others as f32);
    // This addition rounds to the nearest whole number, and halves to the even one.
    let rounded = (scaled + 12_582_912.0) - 12_582_912.0;
    *out = if others == 0 { value as u8 } else { rounded as u8 };
}

/// The places of tiles, for a kernel.
#[derive(Debug, Clone, Copy, KernelArg)]
struct TileGrid {
    across: u32,
    down: u32,
    /// The tiles of a pixel, across and down.
    each: [f32; 2],
}

/// The value of a pixel in the tables of the four tiles whose middles are around it, interpolated between them.
#[kernel(map)]
fn between_tables(
    out: &mut u8,
    image: &u8,
    tables: &[u8],
    tiles: TileGrid,
    #[at] [y, x]: [usize; 2],
) {
    let at_x = x as f32 * tiles.each[0] - 0.5;
    let at_y = y as f32 * tiles.each[1] - 0.5;
    let left = at_x.floor();
    let upper = at_y.floor();
    let to_right = at_x - left;
    let down = at_y - upper;
    let last_x = tiles.across as f32 - 1.0;
    let last_y = tiles.down as f32 - 1.0;
    let x0 = left.max(0.0).min(last_x) as usize;
    let x1 = (left + 1.0).min(last_x) as usize;
    let y0 = upper.max(0.0).min(last_y) as usize * tiles.across as usize;
    let y1 = (upper + 1.0).min(last_y) as usize * tiles.across as usize;
    let value = *image as usize;
    let a = tables[(y0 + x0) * 256 + value] as f32;
    let b = tables[(y0 + x1) * 256 + value] as f32;
    let c = tables[(y1 + x0) * 256 + value] as f32;
    let d = tables[(y1 + x1) * 256 + value] as f32;
    let above = a * (1.0 - to_right) + b * to_right;
    let below = c * (1.0 - to_right) + d * to_right;
    let between = above * (1.0 - down) + below * down;
    // This addition rounds to the nearest whole number, and halves to the even one.
    let rounded = (between + 12_582_912.0) - 12_582_912.0;
    *out = rounded as u8;
}
