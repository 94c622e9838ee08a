// `Box<dyn Any>` as a message, in a whole program.
use std::any::Any;

use streamflow::prelude::*;

#[operator]
pub struct Read {
    #[output]
    value: Box<dyn Any>,
}

impl Compute for Read {
    fn compute(&mut self, io: ReadIo<'_>, _: &ExecutionContext) -> Result<()> {
        io.value.emit(Box::new(7_u32))
    }
}

#[operator]
pub struct Show {
    #[input]
    value: &HostData<Box<dyn Any>>,
}

impl Compute for Show {
    fn compute(&mut self, io: ShowIo<'_>, _: &ExecutionContext) -> Result<()> {
        println!("{:?}", io.value.receive().into_data().is::<u32>());
        Ok(())
    }
}

graph! {
    pub struct App {
        #[when(count(3))]
        let read: Read = Read::new();
        let show: Show = Show::new();

        read.value >> show.value;
    }
}

fn main() -> Result<()> {
    App::new(&Platform::detect()?)?.run()?;
    Ok(())
}
