// Operators with type parameters, const parameters, clauses and defaults, named with their types in a graph.
use std::marker::PhantomData;

use streamflow::port::Receive;
use streamflow::prelude::*;

#[operator]
pub struct Repeat<
    M: Message<Place = streamflow::message::Host> + for<'t> Receive<'t, Message = M> + Clone,
    const N: usize,
> {
    #[output]
    out: M,
    value: M,
}

impl<
    M: Message<Place = streamflow::message::Host> + for<'t> Receive<'t, Message = M> + Clone,
    const N: usize,
> Compute for Repeat<M, N>
{
    fn compute(&mut self, io: RepeatIo<'_, M>, cx: &ExecutionContext) -> Result<()> {
        if cx.tick() as usize == N {
            cx.finish();
        }
        io.out.emit(self.value.clone())
    }
}

#[operator]
pub struct Map<A, B, F>
where
    A: Message<Place = streamflow::message::Host> + for<'t> Receive<'t, Message = A>,
    B: Message<Place = streamflow::message::Host> + for<'t> Receive<'t, Message = B>,
    F: FnMut(A) -> B + Send + 'static,
{
    #[input]
    from: A,
    #[output]
    to: B,
    map: F,
}

impl<A, B, F> Compute for Map<A, B, F>
where
    A: Message<Place = streamflow::message::Host> + for<'t> Receive<'t, Message = A>,
    B: Message<Place = streamflow::message::Host> + for<'t> Receive<'t, Message = B>,
    F: FnMut(A) -> B + Send + 'static,
{
    fn compute(&mut self, io: Self::Io<'_>, _: &ExecutionContext) -> Result<()> {
        let from = io.from.receive().into_data();
        io.to.emit((self.map)(from))
    }
}

#[operator(no_new)]
pub struct Keep<T: Element = f32> {
    #[input]
    image: Shared<Tensor<T>>,
    kept: Vec<Shared<Tensor<T>>>,
    of: PhantomData<T>,
}

impl<T: Element> Compute for Keep<T> {
    fn compute(&mut self, io: KeepIo<'_, T>, cx: &ExecutionContext) -> Result<()> {
        let (image, _) = io.image.receive().receive_cuda_stream(cx)?;
        self.kept.push(image);
        Ok(())
    }
}

/// Branches whose types have parameters, one with a default and one in a single branch.
#[operator]
pub struct Choose<T, U: Element = f32, const N: usize = 2>
where
    T: Message<Place = streamflow::message::Host> + for<'t> Receive<'t, Message = T>,
{
    #[input]
    from: T,
    #[output(branch)]
    tick: T,
    #[output(branch)]
    r#type: HostData<[u64; N]>,
    #[output(branch)]
    other: HostData<Vec<U>>,
}

impl<T, U: Element, const N: usize> Compute for Choose<T, U, N>
where
    T: Message<Place = streamflow::message::Host> + for<'t> Receive<'t, Message = T>,
{
    fn compute(&mut self, io: Self::Io<'_>, cx: &ExecutionContext) -> Result<()> {
        let from = io.from.receive().into_data();
        match cx.tick() % 3 {
            0 => io.branch.tick().emit(from),
            1 => io.branch.r#type().emit(HostData([cx.tick(); N])),
            _ => io.branch.other().emit(HostData(Vec::new())),
        }
    }
}

graph! {
    pub struct Generic {
        let numbers: Repeat<u64, 3> = Repeat::new(7);
        let map: Map<u64, String, fn(u64) -> String> = Map::new(|number| number.to_string());
        let parse: Map<String, HostData<u64>, fn(String) -> HostData<u64>> =
            Map::new(|text| HostData(text.len() as u64));

        numbers.out >> map.from;
        map.to >> parse.from;
        let choose: Choose<HostData<u64>> = Choose::new();
        parse.to >> choose.from;
        choose.tick >> _;
        choose.r#type >> _;
        choose.other >> _;
    }
}

fn main() -> Result<()> {
    let _ = Keep::<f64> { kept: Vec::new(), of: PhantomData };
    Generic::new(&Platform::host().build()?)?.run()?;
    Ok(())
}
