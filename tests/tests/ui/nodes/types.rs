// Types that can't be operators. Their edges cause no further errors.
use streamflow::prelude::*;
use streamflow_tests::stereo::{Camera, Cast, Counter};

#[operator]
pub struct Pass<T: Element> {
    #[input]
    from: &Tensor<T>,
    #[output]
    to: u64,
}

impl<T: Element> Compute for Pass<T> {
    fn compute(&mut self, io: PassIo<'_, T>, cx: &ExecutionContext) -> Result<()> {
        io.from.discard();
        io.to.emit(cx.tick())
    }
}

graph! {
    pub struct App {
        let guessed: _ = Counter::new();
        let half: Pass<_> = Pass::new();
        let lent: &Camera = &Camera::new(1, 1);
        let some: impl Operator = Cast::new();
        let pair: (Camera, Cast) = (Camera::new(1, 1), Cast::new());

        guessed.number >> _;
        lent.frame >> some.src;
        some.dst >> half.from;
        half.to >> _;
        pair.frame >> _;
    }
}

fn main() -> Result<()> {
    App::new(&Platform::detect()?)?.run()?;
    Ok(())
}
