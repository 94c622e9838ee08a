// Outputs of device data: on the internal stream where an input has device data, else on a stream that is set.
use streamflow::message::Device;
use streamflow::port::Receive;
use streamflow::prelude::*;

/// Host data in, device data out.
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
        io.tensor.set_cuda_stream(&stream).emit(tensor)
    }
}

#[derive(Message)]
pub struct Sums {
    values: Tensor<f32>,
    at: u64,
}

/// Some inputs have host data, and the macro does not know the types of others.
#[operator]
pub struct Stamp {
    #[input(optional)]
    at: &u64,
    #[input]
    values: Tensor<f32>,
    #[output]
    sums: Sums,
}

impl Compute for Stamp {
    fn compute(&mut self, io: StampIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let at = io.at.receive().into_data().copied().unwrap_or_default();
        let (values, _) = io.values.receive().receive_cuda_stream(cx)?;
        io.sums.emit(Sums { values, at })
    }
}

#[operator]
pub struct Unstamp {
    #[input(optional)]
    label: HostData<&'static str>,
    #[input]
    sums: Sums,
    #[output]
    all: Vec<Tensor<f32>>,
}

impl Compute for Unstamp {
    fn compute(&mut self, io: UnstampIo<'_>, cx: &ExecutionContext) -> Result<()> {
        io.label.discard();
        let (sums, _) = io.sums.receive().receive_cuda_stream(cx)?;
        io.all.emit(vec![sums.values])
    }
}

/// A parameter whose place is known, beside a type that the macro does not know.
#[operator]
pub struct Same<M: Message<Place = Device> + for<'t> Receive<'t, Message = M>> {
    #[input(optional)]
    label: HostData<&'static str>,
    #[input]
    message: M,
    #[output]
    same: M,
}

impl<M: Message<Place = Device> + for<'t> Receive<'t, Message = M>> Compute for Same<M> {
    fn compute(&mut self, io: SameIo<'_, M>, cx: &ExecutionContext) -> Result<()> {
        io.label.discard();
        let (message, _) = io.message.receive().receive_cuda_stream(cx)?;
        io.same.emit(message)
    }
}

/// A parameter whose place is not known, beside a device input.
#[operator]
pub struct With<M: Message> {
    #[input(optional)]
    other: &M,
    #[input]
    values: Vec<Tensor<f32>>,
    #[output]
    first: Tensor<f32>,
}

impl<M: Message> Compute for With<M> {
    fn compute(&mut self, io: WithIo<'_, M>, cx: &ExecutionContext) -> Result<()> {
        io.other.discard();
        let (mut values, _) = io.values.receive().receive_cuda_stream(cx)?;
        io.first.emit(values.remove(0))
    }
}

#[operator]
pub struct Read {
    #[input]
    values: &Tensor<f32>,
    read: Vec<f32>,
}

impl Compute for Read {
    fn compute(&mut self, io: ReadIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (values, stream) = io.values.receive().receive_cuda_stream(cx)?;
        self.read.extend(cx.download(values, &stream)?.wait_blocking()?.iter());
        Ok(())
    }
}

#[operator]
pub struct Numbers {
    #[output]
    data: HostData<Vec<f32>>,
}

impl Compute for Numbers {
    fn compute(&mut self, io: NumbersIo<'_>, cx: &ExecutionContext) -> Result<()> {
        io.data.emit(HostData(vec![cx.tick() as f32, 8.0]))
    }
}

graph! {
    pub struct Sent {
        const STREAMS: CudaStreamPool = CudaStreamPool::new().max_size(6);
        #[when(count(2))]
        let numbers: Numbers = Numbers::new();
        #[streams(STREAMS)]
        let upload: Upload = Upload::new();
        #[streams(STREAMS)]
        let stamp: Stamp = Stamp::new();
        #[streams(STREAMS)]
        let unstamp: Unstamp = Unstamp::new();
        #[streams(STREAMS)]
        let same: Same<Vec<Tensor<f32>>> = Same::new();
        #[streams(STREAMS)]
        let with: With<u64> = With::new();
        #[streams(STREAMS)]
        let read: Read = Read::new(Vec::new());

        numbers.data >> upload.data;
        upload.tensor >> stamp.values;
        stamp.sums >> unstamp.sums;
        unstamp.all >> same.message;
        same.same >> with.values;
        with.first >> read.values;
    }
}

fn main() -> Result<()> {
    let mut graph = Sent::new(&Platform::host().build()?)?;
    graph.run()?;
    assert_eq!(graph.read().read.len(), 4);
    assert_eq!(graph.read().read[1], 8.0);
    Ok(())
}
