use streamflow::prelude::*;

/// Its inputs have no device data, so it has no internal stream.
#[operator(streams(upload))]
pub struct Upload {
    #[input]
    data: &HostData<Vec<f32>>,
    #[output]
    tensor: Tensor<f32>,
}

impl Compute for Upload {
    fn compute(&mut self, io: UploadIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let data = io.data.receive().into_data();
        let stream = cx.allocate_cuda_stream(io.upload)?;
        let mut tensor = cx.tensor([data.len()], &stream)?;
        stream.upload_blocking(data, &mut tensor)?;
        io.tensor.emit(tensor)
    }
}

#[derive(Message)]
pub struct Pose {
    angle: f32,
    at: u64,
}

type Angles = Vec<f32>;

/// rustc finds the places of these messages. No stream is declared either.
#[operator]
pub struct Draw {
    #[input]
    pose: &Pose,
    #[input(optional)]
    angles: Shared<Angles>,
    #[output]
    image: Drawing,
}

#[derive(Message)]
pub struct Drawing {
    image: Tensor<u8>,
}

impl Compute for Draw {
    fn compute(&mut self, io: DrawIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let image = cx.tensor([8], &cx.default_stream()?)?;
        io.image.emit(Drawing { image })
    }
}

/// The same with a type parameter.
#[operator]
pub struct Repeat<T: Element> {
    #[input(many)]
    values: HostData<T>,
    #[input]
    also: &Pose,
    #[output]
    out: Tensor<T>,
}

impl<T: Element> Compute for Repeat<T> {
    fn compute(&mut self, io: RepeatIo<'_, T>, cx: &ExecutionContext) -> Result<()> {
        io.out.emit(cx.tensor([8], &cx.default_stream()?)?)
    }
}

fn main() {}
