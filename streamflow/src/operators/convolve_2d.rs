//! `Convolve2d`: the convolution of images with a small matrix of weights.

use crate::context::{ExecutionContext, Table};
use crate::error::failure::{Failure, Result};
use crate::kernel;
use crate::memory::{Bool8, Tensor};
use crate::operator::Compute;
use streamflow_macros::operator;

/// Replaces each pixel by a weighted sum of its neighbours: to blur or sharpen images, or to find gradients.
///
/// A message has images of the shape `[…, rows, columns]`. Each image is convolved separately. The result has the same shape.
/// Pixel `(y, x)` becomes the sum of `weights[i, j] * image[y + ci - i, x + cj - j]`, where `(ci, cj)` is the centre of the
/// weights. So weights that are not symmetric are flipped, as in SciPy's `ndimage.convolve`. A pixel beyond the border of the
/// image has the value of the nearest pixel of the image, or 0 after [`zero_border`](Self::zero_border).
///
/// ```
/// # use streamflow::prelude::*;
/// use streamflow::operators::Convolve2d;
/// # fn main() -> Result<()> {
/// // How brightness grows to the right, by Sobel's weights.
/// let sobel = Convolve2d::new([1.0, 0.0, -1.0, 2.0, 0.0, -2.0, 1.0, 0.0, -1.0], [3, 3])?;
/// # Ok(())
/// # }
/// ```
#[operator(no_new)]
#[derive(Debug)]
pub struct Convolve2d {
    /// The images, of the shape `[…, rows, columns]`.
    #[input]
    image: &Tensor<f32>,
    /// The weighted sums, with the shape of `image`.
    #[output]
    convolved: Tensor<f32>,
    weights: Table<f32>,
    /// The numbers of rows and columns of the weights.
    size: [usize; 2],
    nearest: bool,
}

impl Convolve2d {
    /// Creates the operator with weights of `rows` rows and `cols` columns, row by row.
    ///
    /// # Errors
    /// An error for another number of weights, or for an even number of rows or columns, which has no centre.
    pub fn new(weights: impl Into<Vec<f32>>, [rows, cols]: [usize; 2]) -> Result<Self> {
        let weights = weights.into();
        if rows % 2 == 0 || cols % 2 == 0 || rows.checked_mul(cols) != Some(weights.len()) {
            let len = weights.len();
            return Err(Failure::msg(format!(
                "Convolve2d has {len} weights for {rows} rows and {cols} columns; give it rows * columns weights, \
                 and odd numbers of rows and columns, so that one weight is in the centre"
            )));
        }
        Ok(Self { weights: Table::new(weights), size: [rows, cols], nearest: true })
    }

    /// Makes pixels beyond the border of an image count as 0.
    #[must_use = "it returns the operator with this border"]
    pub fn zero_border(self) -> Self {
        Self { nearest: false, ..self }
    }
}

#[diagnostic::do_not_recommend]
impl Compute for Convolve2d {
    fn compute(&mut self, io: Convolve2dIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (image, stream) = io.image.receive().receive_cuda_stream(cx)?;
        let &[.., rows, cols] = image.shape() else {
            return Err(Failure::msg(format!(
                "Convolve2d received a tensor of shape {:?}; send images, [rows, columns]",
                image.shape()
            )));
        };
        let mut convolved = cx.tensor(image.shape(), &stream)?;
        let weights = self.weights.on(cx)?;
        let [weight_rows, weight_cols] = self.size;
        stream.launch::<convolve_2d>(
            convolved.len(),
            (
                &mut convolved,
                image,
                weights,
                rows,
                cols,
                weight_rows,
                weight_cols,
                self.nearest.into(),
            ),
        )?;
        io.convolved.emit(convolved)
    }
}

/// The kernel `out[y, x]` = the sum of `weights[i, j] * image[y + ci - i, x + cj - j]`. It adds the neighbours from the top left
/// to the bottom right. `[ci, cj]` is the centre of the weights.
#[kernel(
    requires(
        image.len() == out.len(),
        out.is_empty() || rows.checked_mul(cols).is_some_and(|area| area > 0 && out.len().is_multiple_of(area)),
        weight_rows.checked_mul(weight_cols) == Some(weights.len())
    ),
    unsafe cuda = "
    unsigned long long n = thread_index();
    if (n >= out_len) return;
    const long long height = rows, width = cols, x = n % cols, y = n / cols % rows;
    const long long image_of_n = n - y * width - x;
    float sum = 0.0f;
    for (long long i = weight_rows - 1; i >= 0; i--) {
        long long from_y = y + (long long)(weight_rows / 2) - i;
        if (!nearest && (from_y < 0 || from_y >= height)) continue;
        from_y = from_y < 0 ? 0 : from_y >= height ? height - 1 : from_y;
        for (long long j = weight_cols - 1; j >= 0; j--) {
            long long from_x = x + (long long)(weight_cols / 2) - j;
            if (!nearest && (from_x < 0 || from_x >= width)) continue;
            from_x = from_x < 0 ? 0 : from_x >= width ? width - 1 : from_x;
            sum += weights[i * weight_cols + j] * image[image_of_n + from_y * width + from_x];
        }
    }
    out[n] = sum;
"
)]
#[allow(clippy::too_many_arguments, reason = "a kernel takes the fields of a struct one by one")]
pub fn convolve_2d(
    out: &mut [f32],
    image: &[f32],
    weights: &[f32],
    rows: usize,
    cols: usize,
    weight_rows: usize,
    weight_cols: usize,
    nearest: Bool8,
) {
    // Returns the row or column of a neighbour; `None` if the neighbour is beyond the border and counts as 0.
    let place = |at: usize, weight: usize, weights: usize, len: usize| {
        let from = (at + weights / 2).checked_sub(weight).filter(|from| *from < len);
        let clamped = (at + weights / 2).saturating_sub(weight).min(len - 1);
        from.or_else(|| nearest.get().then_some(clamped))
    };
    for (n, out) in out.iter_mut().enumerate() {
        let (y, x) = (n / cols % rows, n % cols);
        let image = &image[n - y * cols - x..][..rows * cols];
        *out = 0.0;
        for i in (0..weight_rows).rev() {
            let Some(y) = place(y, i, weight_rows, rows) else { continue };
            for j in (0..weight_cols).rev() {
                let Some(x) = place(x, j, weight_cols, cols) else { continue };
                *out += weights[i * weight_cols + j] * image[y * cols + x];
            }
        }
    }
}
