//! The kernels of the detector.

use streamflow::kernel::Window;
use streamflow::prelude::*;

/// The response where no neighbour has a larger one, else 0.
#[kernel(stencil(reach = [0, 2, 2], border = clamp))]
pub fn peaks(score: &mut f32, response: Window<f32>) {
    let own = response.at(0, 0, 0);
    let mut largest = own;
    for y in -2..=2 {
        for x in -2..=2 {
            largest = largest.max(response.at(0, y, x));
        }
    }
    *score = if own == largest { own } else { 0.0 };
}

/// The left, upper, right and lower edge of the box around a pixel. A pixel has two columns and two rows of a frame.
#[kernel(map)]
pub fn edges(out: &mut f32, #[at] [pixel, edge]: [usize; 2], columns: usize, radius: f32) {
    let place = if edge % 2 == 0 { pixel % columns } else { pixel / columns };
    let middle = 2.0 * place as f32 + 1.0;
    *out = if edge < 2 { middle - radius } else { middle + radius };
}
