// A payload that can't move to another thread, in a whole program.
use std::rc::Rc;

use streamflow::prelude::*;

#[operator]
pub struct Detect {
    #[output]
    boxes: HostData<Rc<u32>>,
}

impl Compute for Detect {
    fn compute(&mut self, io: DetectIo<'_>, _: &ExecutionContext) -> Result<()> {
        io.boxes.emit(HostData(Rc::new(7)))
    }
}

#[operator]
pub struct Draw {
    #[input]
    boxes: &HostData<Rc<u32>>,
}

impl Compute for Draw {
    fn compute(&mut self, io: DrawIo<'_>, _: &ExecutionContext) -> Result<()> {
        println!("{}", io.boxes.receive().into_data());
        Ok(())
    }
}

graph! {
    pub struct App {
        #[when(count(3))]
        let detect: Detect = Detect::new();
        let draw: Draw = Draw::new();

        detect.boxes >> draw.boxes;
    }
}

fn main() -> Result<()> {
    App::new(&Platform::detect()?)?.run()?;
    Ok(())
}
