//! `Components`: the connected parts of a mask.

use std::fmt;

use streamflow::prelude::*;

use crate::format::Grey;
use crate::histogram::check_pixels;
use crate::image::Image;

mod boxes;
mod union;

pub use boxes::ComponentBoxes;
use union::{first_of_run, flatten, join};

/// The connected components of a mask, on a device.
#[derive(Debug, Message)]
#[message(unlisted)]
pub struct Labels {
    /// The number of each pixel's component, `[height, width]`: from 1 on in the order of the components' first pixels, row by row; 0 for a
    /// pixel that is in none.
    pub labels: Tensor<u32>,
    /// How many components there are, `[1]`.
    pub count: Tensor<u32>,
}

/// Finds the connected components of a mask, whose pixels that are not 0 count: the labels of `scipy.ndimage.label`, with its order.
/// [`ComponentBoxes`] makes boxes of them.
///
/// The result is the same in each run. On a GPU it comes from a union-find with atomic minima (Playne and Hawick, *A new algorithm for
/// parallel connected-component labelling on GPUs*, 2018), and a scan that numbers the first pixels.
///
/// ```
/// use streamflow::prelude::*;
/// use streamflow::testing::OperatorHarness;
/// use streamflow_vision::{Components, Image};
///
/// # fn main() -> Result<()> {
/// let platform = Platform::detect()?;
/// let samples = platform.upload(&[0_u8, 0, 255, 255, 0, 0, 255, 255, 0])?.reshape([3, 3])?;
/// let mut components = OperatorHarness::new(&platform, Components::of_four())?;
/// components.push(|ports| &mut ports.mask, Image::new(samples, 3, 3)?)?;
/// assert!(components.tick()?);
/// let sent = components.take(|ports| &mut ports.components).expect("it sends in each tick").message;
/// let labels = components.stream().download_blocking(&sent.labels)?;
/// assert_eq!(labels, [0, 0, 1, 2, 0, 0, 2, 2, 0]);
/// # Ok(components.stop()?)
/// # }
/// ```
#[operator(no_new, unlisted)]
pub struct Components {
    /// The masks, of fewer than 2³² pixels.
    #[input]
    mask: &Image<Grey<u8>>,
    /// Their components.
    #[output]
    components: Labels,
    has_diagonals: bool,
}

impl Components {
    /// Creates an operator for which the four pixels beside, above and below a pixel are its neighbours, as by default in SciPy.
    pub fn of_four() -> Self {
        Self { has_diagonals: false }
    }

    /// Creates an operator for which the four diagonal pixels are neighbours, too.
    pub fn of_eight() -> Self {
        Self { has_diagonals: true }
    }
}

#[diagnostic::do_not_recommend]
impl Compute for Components {
    fn compute(&mut self, io: Self::Io<'_>, cx: &ExecutionContext) -> Result<()> {
        let (mask, stream) = io.mask.receive_with_stream(cx)?;
        check_pixels(mask, "Components")?;
        let shape = [mask.height(), mask.width()];
        let mut labels = cx.tensor(shape, &stream)?;
        let mut count = cx.tensor([1], &stream)?;
        if labels.is_empty() {
            stream.fill_bytes(&mut count, 0)?;
            return io.components.emit(Labels { labels, count });
        }
        let mut parents = cx.tensor(shape, &stream)?;
        let (samples, pitch) = (mask.samples(), mask.pitch());
        stream.map::<first_of_run>((&mut parents, samples, pitch))?;
        stream.launch::<join>(
            [mask.width(), mask.height()],
            (&mut parents, mask.width(), self.has_diagonals.into()),
        )?;
        stream.launch::<flatten>(parents.len(), (&mut parents,))?;
        // The labels' memory has a 1 for each first pixel until the last kernel.
        stream.map::<is_first>((&mut labels, &parents))?;
        let mut numbers = cx.tensor(shape, &stream)?;
        stream.scan::<sum>(&mut numbers, &labels)?;
        stream.map::<number>((&mut labels, &parents, &numbers))?;
        stream.map::<last>((&mut count, &numbers))?;
        io.components.emit(Labels { labels, count })
    }
}

impl fmt::Debug for Components {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Components({} neighbours)", if self.has_diagonals { 8 } else { 4 })
    }
}

/// The number of a pixel's component, whose first pixel is the parent.
#[kernel(map)]
fn number(out: &mut u32, parent: &u32, numbers: &[u32]) {
    let mut label = 0;
    if *parent != u32::MAX {
        label = numbers[*parent as usize];
    }
    *out = label;
}

#[kernel(map)]
fn is_first(out: &mut u32, parent: &u32, #[at] i: usize) {
    *out = (*parent as usize == i) as u32;
}

#[kernel(scan(identity = 0))]
fn sum(a: u32, b: u32) -> u32 {
    a + b
}

#[kernel(map)]
fn last(out: &mut u32, numbers: &[u32]) {
    *out = numbers[numbers.len() - 1];
}
