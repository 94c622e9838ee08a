// Names that resemble streamflow's, keywords, and each other.
use streamflow::prelude::*;

#[operator(streams(stream, node))]
pub struct Io {
    #[input]
    cx: &Tensor<f32>,
    #[input(optional)]
    r#type: u64,
    #[output]
    outlet: u64,
    #[output]
    inputs: u64,
    platform: u64,
}

impl Compute for Io {
    fn compute(&mut self, io: IoIo<'_>, cx: &ExecutionContext) -> Result<()> {
        io.cx.discard();
        let _ = (io.stream, io.node);
        let number = io.r#type.receive().into_data().unwrap_or(self.platform);
        io.outlet.emit(number)?;
        io.inputs.emit(cx.tick())
    }
}

#[operator]
pub struct Ports {
    #[input]
    edge: u64,
    #[output]
    connect: u64,
}

impl Compute for Ports {
    fn compute(
        &mut self,
        PortsIo { edge, connect }: PortsIo<'_>,
        _: &ExecutionContext,
    ) -> Result<()> {
        let number = edge.receive().into_data();
        connect.emit(number)
    }
}

graph! {
    pub struct Names(io: u64, result: u64) {
        const SELF: CudaStreamPool = CudaStreamPool::new();

        #[when(count(io))]
        let camera: streamflow_tests::stereo::Camera = streamflow_tests::stereo::Camera::new(4, 1);
        let cast: streamflow_tests::stereo::Cast = streamflow_tests::stereo::Cast::new();
        #[streams(SELF)]
        let io: Io = Io::new(result);
        let r#match: Ports = Ports::new();
        let result: Ports = Ports::new();
        let __: Ports = Ports::new();
        let __ports: Ports = Ports::new();

        camera.frame >> cast.src;
        cast.dst >> io.cx;
        io.outlet >> r#match.edge;
        io.inputs >> result.edge;
        r#match.connect >> __.edge;
        __.connect >> __ports.edge;
        __ports.connect >> _;
        r#result.connect >> _;
    }
}

fn main() {}
