//! Operators that hold device data back until `flush`.

use streamflow::prelude::*;
use streamflow_tests::kernels::{add_one, slow_fill};
use streamflow_tests::{Failed, Suite, check_equal};

pub(crate) fn add(suite: Suite) -> Suite {
    suite.both("flush_computes_with_device_data_that_was_held_and_that_is_left", held)
}

/// A source that fills a buffer with the number of its tick, by a slow kernel.
#[operator(streams(fill))]
struct Filler {
    #[output]
    data: Buffer<f32>,
}

impl Compute for Filler {
    fn compute(&mut self, io: FillerIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let stream = cx.allocate_cuda_stream(io.fill)?;
        let mut data = cx.buffer::<f32>(64, &stream)?;
        stream.launch::<slow_fill>(64, (&mut data, cx.tick() as f32, 100_000))?;
        io.data.set_cuda_stream(&stream).emit(data)
    }
}

/// An operator that receives buffers in threes and holds them. Its `flush` adds one to each buffer, and sends it.
#[operator(flush)]
struct Holds {
    #[input]
    data: Buffer<f32>,
    #[output]
    out: Buffer<f32>,
    held: Vec<Buffer<f32>>,
}

impl Compute for Holds {
    fn compute(&mut self, io: HoldsIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (batch, _stream) = io.data.receive_batch(3).receive_cuda_stream(cx)?;
        self.held.extend(batch);
        Ok(())
    }
}

impl Flush for Holds {
    fn flush(&mut self, io: HoldsFlushIo<'_>, cx: &ExecutionContext) -> Result<Flushed> {
        let (left, stream) = io.data.receive().receive_cuda_stream(cx)?;
        self.held.extend(left);
        if self.held.is_empty() {
            return Ok(Flushed::Done);
        }
        let mut data = self.held.remove(0);
        stream.launch::<add_one>(64, (&mut data,))?;
        io.out.emit(data)?;
        Ok(Flushed::More)
    }
}

#[operator]
struct Reads {
    #[input]
    data: &Buffer<f32>,
    got: Vec<Vec<f32>>,
}

impl Compute for Reads {
    fn compute(&mut self, io: ReadsIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (data, stream) = io.data.receive().receive_cuda_stream(cx)?;
        let download = cx.download(data, &stream)?;
        self.got.push(download.wait_blocking()?.to_vec());
        Ok(())
    }
}

graph! {
    struct Held {
        #[when(count(7))] let filler: Filler = Filler::new();
        #[when(message_available(data, 3))] let holds: Holds = Holds::new(Vec::new());
        let reads: Reads = Reads::new(Vec::new());
        #[capacity(3)] filler.data >> holds.data;
        holds.out >> reads.data;
    }
}

/// Checks six buffers that the operator holds, and one that is left at its input.
fn held(platform: &Platform) -> Result<(), Failed> {
    let mut graph = Held::new(platform)?;
    for _ in 0..2 {
        graph.run()?;
        let got = std::mem::take(&mut graph.reads_mut().got);
        let expected: Vec<_> = (1..8).map(|value| vec![value as f32; 64]).collect();
        check_equal(got, expected)?;
    }
    Ok(())
}
