//! An operator that multiplies each value of an image by a number.

use streamflow::prelude::*;

/// Multiplies one value. The library runs it for each element, on a GPU or on the simulator.
#[kernel(map)]
pub fn scale(image: &mut f32, factor: f32) {
    *image *= factor;
}

/// Takes an image, multiplies its values by `factor`, and sends it on. The macro writes its `compute`.
#[operator(map = scale)]
pub struct Scale {
    /// The image, which is taken and written in place.
    #[input]
    image: Tensor<f32>,
    /// The same image.
    #[output]
    scaled: Tensor<f32>,
    factor: f32,
}

#[cfg(test)]
mod tests {
    use streamflow::testing::{OperatorHarness, explore};

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
}
