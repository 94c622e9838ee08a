// A lifetime parameter, in a whole program.
use streamflow::prelude::*;

#[operator]
pub struct Named<'a> {
    #[input]
    x: &u64,
    name: &'a str,
}

impl<'a> Compute for Named<'a> {
    fn compute(&mut self, io: NamedIo<'_>, _: &ExecutionContext) -> Result<()> {
        println!("{}: {}", self.name, io.x.receive().into_data());
        Ok(())
    }
}

#[operator]
pub struct Count {
    #[output]
    number: u64,
}

impl Compute for Count {
    fn compute(&mut self, io: CountIo<'_>, cx: &ExecutionContext) -> Result<()> {
        io.number.emit(cx.tick())
    }
}

graph! {
    pub struct App {
        #[when(count(3))]
        let count: Count = Count::new();
        let named: Named<'static> = Named::new("a");

        count.number >> named.x;
    }
}

fn main() -> Result<()> {
    App::new(&Platform::detect()?)?.run()?;
    Ok(())
}
