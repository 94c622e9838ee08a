// State that `new` can't make, since its type has no `Default`.
use streamflow::prelude::*;

pub struct Window {
    width: u32,
}

#[operator]
pub struct Show {
    #[input]
    number: u64,
    #[state]
    window: Window,
}

impl Compute for Show {
    fn compute(&mut self, io: ShowIo<'_>, _: &ExecutionContext) -> Result<()> {
        println!("{} {}", io.number.receive().into_data(), self.window.width);
        Ok(())
    }
}

fn main() {
    let _ = Show::new();
}
