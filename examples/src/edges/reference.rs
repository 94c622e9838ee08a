//! The edges computed in `f64`, from the definitions and without code of the kernels.

use crate::png_io::Image;

/// The maximum distance of a byte from [`reference()`]: half a unit from the last rounding, and the errors of about ten
/// roundings in `f32` of values up to 8 · 255.
pub const TOLERANCE: f64 = 0.5 + 0.005;

/// The edges before rounding, 0 to 255, one value per pixel.
pub fn reference(image: &Image) -> Vec<f64> {
    let (width, height) = (image.width as usize, image.height as usize);
    let brightness = image
        .rgb
        .chunks_exact(3)
        .map(|p| 0.299 * f64::from(p[0]) + 0.587 * f64::from(p[1]) + 0.114 * f64::from(p[2]))
        .collect();
    let grey = Plane { width, height, values: brightness };

    let binomial = [1.0, 4.0, 6.0, 4.0, 1.0];
    let gaussian: Vec<Vec<f64>> =
        binomial.iter().map(|a| binomial.iter().map(|b| a * b / 256.0).collect()).collect();
    let blurred = grey.convolve(&gaussian);

    let across = vec![vec![-1.0, 0.0, 1.0], vec![-2.0, 0.0, 2.0], vec![-1.0, 0.0, 1.0]];
    let down = vec![vec![-1.0, -2.0, -1.0], vec![0.0, 0.0, 0.0], vec![1.0, 2.0, 1.0]];
    let (x, y) = (blurred.convolve(&across), blurred.convolve(&down));
    x.values.iter().zip(&y.values).map(|(x, y)| x.hypot(*y).min(255.0)).collect()
}

struct Plane {
    width: usize,
    height: usize,
    values: Vec<f64>,
}

impl Plane {
    /// The pixel at a position. Beyond the border, the value of the nearest pixel.
    fn at(&self, x: isize, y: isize) -> f64 {
        let x = x.clamp(0, self.width as isize - 1) as usize;
        let y = y.clamp(0, self.height as isize - 1) as usize;
        self.values[y * self.width + x]
    }

    /// The convolution with a square of weights, whose size is odd.
    fn convolve(&self, weights: &[Vec<f64>]) -> Self {
        let back = (weights.len() / 2) as isize;
        let mut values = Vec::with_capacity(self.values.len());
        for y in 0..self.height as isize {
            for x in 0..self.width as isize {
                let mut sum = 0.0;
                for (dy, row) in (-back..).zip(weights) {
                    for (dx, weight) in (-back..).zip(row) {
                        sum += weight * self.at(x + dx, y + dy);
                    }
                }
                values.push(sum);
            }
        }
        Self { width: self.width, height: self.height, values }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flat_image_has_no_edges() {
        let image = Image { width: 4, height: 3, rgb: vec![200; 36] };
        assert!(reference(&image).iter().all(|&x| x.abs() < 1e-9));
    }

    #[test]
    fn a_ramp_has_its_slope_times_eight() {
        let grey = |x: u8| [10 * x; 3];
        let row: Vec<u8> = (0..9).flat_map(grey).collect();
        let image = Image { width: 9, height: 9, rgb: row.repeat(9) };
        let centre = reference(&image)[4 * 9 + 4];
        assert!((centre - 80.0).abs() < 1e-9, "{centre}");
    }
}
