//! A crate that depends on streamflow under another name. All macros work with one line at the root of the crate.

// The macros' code begins with `::streamflow`.
extern crate flow as streamflow;

use flow::prelude::*;

/// `out[i] = value`
#[kernel(unsafe cuda = "unsigned long long i = thread_index(); if (i < out_len) out[i] = value;")]
pub fn fill(out: &mut [f32], value: f32) {
    out.fill(value);
}

/// An image and the tick that made it.
#[derive(Debug, Message)]
pub struct Frame {
    /// The pixels.
    pub image: Tensor<f32>,
    /// The tick.
    pub number: u64,
}

/// Makes frames.
#[operator(streams(fill))]
#[derive(Debug)]
pub struct Source {
    #[output]
    frame: Frame,
}

impl Compute for Source {
    fn compute(&mut self, io: SourceIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let stream = cx.allocate_cuda_stream(io.fill)?;
        let mut image = cx.tensor([4], &stream)?;
        stream.launch::<fill>(image.len(), (&mut image, 1.5))?;
        io.frame.set_cuda_stream(&stream).emit(Frame { image, number: cx.tick() })
    }
}

/// Sums the values of all frames.
#[operator]
#[derive(Debug)]
pub struct Sink {
    #[input]
    frame: &Frame,
    /// The sum so far.
    pub sum: f32,
}

impl Compute for Sink {
    fn compute(&mut self, io: SinkIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (frame, stream) = io.frame.receive().receive_cuda_stream(cx)?;
        let values = cx.download(&frame.image, &stream)?;
        self.sum += values.wait_blocking()?.iter().sum::<f32>() + frame.number as f32;
        Ok(())
    }
}

graph! {
    /// Frames and their sum.
    #[allow(missing_debug_implementations)]
    pub struct App(count: u64) {
        #[when(count(count))]
        let source: Source = Source::new();
        #[when(stream_done(frame))]
        let sink: Sink = Sink::new(0.0);

        source.frame >> sink.frame;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_graph_runs_under_another_crate_name() -> Result<()> {
        let mut app = App::new(&Platform::host().build()?, 3)?;
        app.run()?;
        assert_eq!(app.sink().sum, 21.0);
        Ok(())
    }
}
