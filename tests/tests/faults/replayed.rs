//! A graph that is replayed even if no variable asks for replay. Its kernels get other parameters in each tick.

use streamflow::prelude::*;
use streamflow_examples::deliver::Report;
use streamflow_tests::kernels::mixing::{make, map};

use super::shows::Shows;

const LEN: usize = 5;

/// So many ticks that the calls of a tick have come again with each rotation of buffers, more than twice.
pub(crate) const TICKS: u64 = 40;

/// A source whose data differs from tick to tick.
#[operator(streams(work))]
pub(crate) struct Makes {
    #[output]
    data: Tensor<u32>,
}

impl Compute for Makes {
    fn compute(&mut self, io: MakesIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let stream = cx.allocate_cuda_stream(io.work)?;
        let mut data = cx.tensor([LEN], &stream)?;
        stream.launch::<make>(LEN, (&mut data, cx.tick() as u32, 0))?;
        io.data.set_cuda_stream(&stream).emit(data)
    }
}

/// An operator that changes its message on another stream.
#[operator]
pub(crate) struct Changes {
    #[input]
    data: &Tensor<u32>,
    #[output]
    changed: Tensor<u32>,
}

impl Compute for Changes {
    fn compute(&mut self, io: ChangesIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (data, stream) = io.data.receive().receive_cuda_stream(cx)?;
        let mut changed = cx.tensor([LEN], &stream)?;
        stream.launch::<map>(LEN, (&mut changed, data, 7, 0))?;
        io.changed.emit(changed)
    }
}

graph! {
    #[replay]
    pub(crate) struct Replayed(report: Report<u32>) {
        #[when(count(TICKS))]
        let makes: Makes = Makes::new();
        let changes: Changes = Changes::new();
        let shows: Shows<u32> = Shows::new(report);

        makes.data >> changes.data;
        changes.changed >> shows.data;
    }
}
