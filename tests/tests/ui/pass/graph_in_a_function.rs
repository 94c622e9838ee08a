// Operators, messages, kernels and graphs within a function, where no path leads to an item.
use streamflow::prelude::*;

fn main() -> Result<()> {
    #[kernel(unsafe cuda = "unsigned long long i = thread_index(); if (i < out_len) out[i] = value;")]
    fn fill(out: &mut [f32], value: f32) {
        out.fill(value);
    }

    #[derive(Message)]
    struct Frame {
        image: Tensor<f32>,
        number: u64,
    }

    #[operator(streams(fill))]
    struct Source {
        #[output]
        frame: Frame,
    }

    impl Compute for Source {
        fn compute(&mut self, io: SourceIo<'_>, cx: &ExecutionContext) -> Result<()> {
            let stream = cx.allocate_cuda_stream(io.fill)?;
            let mut image = cx.tensor([4], &stream)?;
            stream.launch::<fill>(image.len(), (&mut image, 2.5))?;
            io.frame.set_cuda_stream(&stream).emit(Frame { image, number: cx.tick() })
        }
    }

    #[operator]
    struct Sink {
        #[input]
        frame: Frame,
        sum: f32,
    }

    impl Compute for Sink {
        fn compute(&mut self, io: SinkIo<'_>, cx: &ExecutionContext) -> Result<()> {
            let (Frame { image, number }, stream) = io.frame.receive().receive_cuda_stream(cx)?;
            let values = cx.download(&image, &stream)?;
            self.sum += values.wait_blocking()?.iter().sum::<f32>() + number as f32;
            Ok(())
        }
    }

    let count = 3;
    graph! {
        struct Inner(count: u64) {
            #[when(count(count))]
            let source: Source = Source::new();
            let sink: Sink = Sink::new(0.0);

            source.frame >> sink.frame;
        }
    }

    let mut graph = Inner::new(&Platform::host().build()?, count)?;
    graph.run()?;
    assert_eq!(graph.sink().sum, 33.0);
    Ok(())
}
