// Type aliases for operators, messages, shared inputs and results.
use streamflow::prelude::*;
use streamflow_tests::stereo::{Camera, Cast, Invert};

type Image = Tensor<f32>;
type Picture = Shared<Image>;
type Eye = Camera;
type Label = HostData<&'static str>;
type Done = Result<()>;

#[operator]
pub struct Keep {
    #[input]
    image: Picture,
    #[input(optional)]
    label: Label,
    #[output]
    kept: Picture,
    seen: usize,
}

impl Compute for Keep {
    fn compute(&mut self, io: KeepIo<'_>, cx: &ExecutionContext) -> Done {
        let (image, _): (Picture, _) = io.image.receive().receive_cuda_stream(cx)?;
        let _: Option<Label> = io.label.receive().into_data();
        self.seen += 1;
        io.kept.emit(image)
    }
}

#[operator]
pub struct Look {
    #[input]
    image: &Image,
    values: Vec<f32>,
}

impl Compute for Look {
    fn compute(&mut self, io: LookIo<'_>, cx: &ExecutionContext) -> Done {
        let (image, stream) = io.image.receive().receive_cuda_stream(cx)?;
        self.values.push(cx.download(image, &stream)?.wait_blocking()?[0]);
        Ok(())
    }
}

graph! {
    pub struct Aliases {
        #[when(count(2))]
        let eye: Eye = Eye::new(4, 1);
        let cast: Cast = Cast::new();
        // The alias is a `Shared`, so that an output with two readers may lead to it.
        let keep: Keep = Keep::new(0);
        let look: Look = Look::new(Vec::new());
        let again: Look = Look::new(Vec::new());
        let invert: Invert = Invert::new();

        eye.frame >> cast.src;
        cast.dst >> (keep.image, look.image);
        keep.kept >> again.image;
        #[copy]
        cast.dst >> invert.src;
        invert.dst >> _;
    }
}

fn main() -> Done {
    let mut graph = Aliases::new(&Platform::host().build()?)?;
    graph.run()?;
    assert_eq!((graph.keep().seen, &graph.look().values[..]), (2, &[1.0, 2.0][..]));
    assert_eq!(graph.look().values, graph.again().values);
    Ok(())
}
