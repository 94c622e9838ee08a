// A public operator with a private message.
mod detection {
    use streamflow::prelude::*;

    #[derive(Message)]
    struct Boxes {
        count: u64,
    }

    #[operator]
    pub struct Detect {
        #[output]
        boxes: Boxes,
    }

    impl Compute for Detect {
        fn compute(&mut self, io: DetectIo<'_>, cx: &ExecutionContext) -> Result<()> {
            io.boxes.emit(Boxes { count: cx.tick() })
        }
    }
}

fn main() {
    let _ = detection::Detect::new();
}
