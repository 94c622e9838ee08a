//! candle's devices, and the network on each.

use candle_core::{DType, Device, Tensor};
use streamflow::prelude::{Failure, Platform, Result};

use crate::border::{Place, used_by_candle, without_events};
use crate::network::{BEFORE_OUTPUT, Network, OUTPUT, SHAPE, image};

/// A device of candle with the network.
#[derive(Debug)]
pub struct Model {
    name: &'static str,
    device: Device,
    network: Network,
}

impl Model {
    /// A device of candle that has run the network once: candle compiles kernels at their first use.
    ///
    /// # Errors
    /// Those of candle.
    pub fn new(name: &'static str, device: Device) -> Result<Self> {
        let network = Network::new(&device)?;
        let model = Self { name, device, network };
        model.forward(&image(0)?.to_device(&model.device)?)?;
        Tensor::full(0.0_f32, OUTPUT, &model.device)?;
        model.device.synchronize()?;
        Ok(model)
    }

    /// Each kind of candle's devices on the first GPU, or the one on the host where the platform is the simulator.
    ///
    /// # Errors
    /// Those of candle.
    pub fn all(platform: &Platform) -> Result<Vec<Self>> {
        if platform.name() != "cuda" {
            return Ok(vec![Self::new("on the host", Device::Cpu)?]);
        }
        let untracked = Device::new_cuda_with_stream(0)?;
        without_events(untracked.as_cuda_device()?);
        Ok(vec![
            Self::new("new_cuda", Device::new_cuda(0)?)?,
            Self::new("new_cuda_with_stream", Device::new_cuda_with_stream(0)?)?,
            Self::new("new_cuda_with_stream, without events", untracked)?,
        ])
    }

    pub fn name(&self) -> &'static str {
        self.name
    }

    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Whether candle has a GPU.
    pub fn is_cuda(&self) -> bool {
        self.device.is_cuda()
    }

    /// The result for an image.
    ///
    /// # Errors
    /// Those of candle.
    pub fn forward(&self, image: &Tensor) -> Result<Tensor> {
        Ok(self.network.forward(image)?)
    }

    /// A place for images, where candle has a GPU.
    ///
    /// # Errors
    /// Those of candle.
    pub fn place(&self) -> Result<Option<Place>> {
        self.is_cuda().then(|| Place::new(&self.device, &SHAPE)).transpose()
    }

    /// Frees memory of the size of a result that holds other values, so that candle gets it for its next result.
    ///
    /// # Errors
    /// Those of candle.
    pub fn leave_values_in_freed_memory(&self) -> Result<()> {
        self.device.synchronize()?;
        let made: candle_core::Result<Vec<Tensor>> = (0..64)
            .map(|_| Tensor::full(BEFORE_OUTPUT, OUTPUT, &self.device)?.to_dtype(DType::F32))
            .collect();
        let made = made?;
        self.device.synchronize()?;
        drop(made);
        Ok(())
    }

    /// Blocks until the device's work is complete, and takes out the error that cudarc has kept.
    ///
    /// # Errors
    /// That one; the driver's.
    pub fn end(&self) -> Result<()> {
        let Device::Cuda(device) = &self.device else { return Ok(()) };
        let context = device.cuda_stream().context().clone();
        let kept = context.check_err();
        kept.map_err(|error| Failure::msg(format!("cudarc has kept {:?}", error.0)))?;
        Ok(context.synchronize()?)
    }

    /// The bytes that candle's tensors have, and the free memory of the device.
    ///
    /// # Errors
    /// Those of the driver.
    pub fn memory(&self) -> Result<(u64, u64)> {
        let device = self.device.as_cuda_device()?;
        let (free, _) = device.cuda_stream().context().mem_get_info()?;
        Ok((used_by_candle(device)?, free as u64))
    }
}
