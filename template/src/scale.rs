//! An operator that multiplies each value of an image by a number.

use streamflow::prelude::*;

/// `image[i] *= factor`
#[kernel(unsafe cuda = "
    unsigned long long i = thread_index();
    if (i < image_len) image[i] *= factor;
")]
pub fn scale(image: &mut [f32], factor: f32) {
    image.iter_mut().for_each(|x| *x *= factor);
}

/// Takes an image, multiplies its values by `factor`, and sends it on.
#[operator]
pub struct Scale {
    /// The image, which is taken and written in place.
    #[input]
    image: Tensor<f32>,
    /// The same image.
    #[output]
    scaled: Tensor<f32>,
    factor: f32,
}

impl Compute for Scale {
    fn compute(&mut self, io: ScaleIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (mut image, stream) = io.image.receive().receive_cuda_stream(cx)?;
        stream.launch::<scale>(image.len(), (&mut image, self.factor))?;
        io.scaled.emit(image)
    }
}

#[cfg(test)]
mod tests {
    use streamflow::testing::{OperatorHarness, Tolerance, compare_bodies, explore};

    use super::*;

    #[test]
    fn it_scales_each_image_under_every_seed() -> Result<()> {
        Ok(explore(|platform| {
            let mut harness = OperatorHarness::new(platform, Scale::new(2.0))?;
            for first in [1.0, 5.0] {
                harness.push(|ports| &mut ports.image, platform.upload(&[first, 3.0])?)?;
                assert!(harness.tick()?, "it has its image, and did not tick");
                let sent = harness
                    .take(|ports| &mut ports.scaled)
                    .expect("it sends in each tick");
                let values = platform.download(&sent.message, harness.stream())?;
                assert_eq!(*values.wait_blocking()?, [2.0 * first, 6.0]);
            }
            Ok(harness.stop()?)
        })?)
    }

    #[test]
    fn both_bodies_compute_the_same() -> Result<()> {
        let outcome = compare_bodies::<scale>(Tolerance::EXACT, |draw| {
            let n = draw.len(0..=5000);
            (n.into(), (draw.values(n, -10.0..=10.0), 0.5))
        })?;
        println!("{outcome}");
        Ok(())
    }
}
