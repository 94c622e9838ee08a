//! A graph with a middle node that calls a library.

use streamflow::prelude::*;
use streamflow_examples::deliver::Report;
use streamflow_tests::foreign::CopyLibrary;
use streamflow_tests::kernels::fill;

use super::shows::Shows;

const LEN: usize = 5;

/// A source whose data differs from tick to tick.
#[operator(streams(work))]
pub(crate) struct Makes {
    #[output]
    data: Tensor<f32>,
}

impl Compute for Makes {
    fn compute(&mut self, io: MakesIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let stream = cx.allocate_cuda_stream(io.work)?;
        let mut data = cx.tensor([LEN], &stream)?;
        stream.launch::<fill>(LEN, (&mut data, cx.tick() as f32 + 0.5))?;
        io.data.set_cuda_stream(&stream).emit(data)
    }
}

/// An operator that copies its message by a call of a library.
#[operator]
pub(crate) struct Copies {
    #[input]
    data: &Tensor<f32>,
    #[output]
    copied: Tensor<f32>,
    library: CopyLibrary,
}

impl Compute for Copies {
    fn compute(&mut self, io: CopiesIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (data, stream) = io.data.receive().receive_cuda_stream(cx)?;
        let mut copied = cx.tensor([LEN], &stream)?;
        self.library.copy(&stream, data, &mut copied)?;
        io.copied.emit(copied)
    }
}

graph! {
    pub(crate) struct ByLibrary(library: CopyLibrary, ticks: u64, report: Report<f32>) {
        #[when(count(ticks))]
        let makes: Makes = Makes::new();
        let copies: Copies = Copies::new(library);
        let shows: Shows<f32> = Shows::new(report);

        makes.data >> copies.data;
        copies.copied >> shows.data;
    }
}
