use streamflow::prelude::*;

#[operator]
pub struct Sink {
    #[input]
    count: u64,
    limit: u64,
}

impl Compute for Sink {
    fn compute(&mut self, io: SinkIo<'_>, cx: &ExecutionContext) -> Result<()> {
        io.count.discard();
        if self.count > self.limit {
            cx.stop_graph();
        }
        Ok(())
    }
}

fn main() {
    let _ = Sink::new();
}
