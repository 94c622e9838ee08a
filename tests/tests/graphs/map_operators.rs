//! Operators of `#[operator(map = …)]`, whose `compute` the macro writes, beside the same operators with a `compute` by hand.

use streamflow::prelude::*;
use streamflow_tests::{Failed, Suite, check_equal, check_error, check_text};

pub(crate) fn add(suite: Suite) -> Suite {
    suite
        .both("operators_of_a_kernel_equal_those_by_hand", equal)
        .both("the_order_of_the_inputs_is_that_of_the_arguments", order)
        .both("an_operator_of_a_kernel_has_parameters", parameters)
        .both("inputs_of_an_operator_of_a_kernel_broadcast", broadcast)
        .both("an_operator_of_a_kernel_names_the_inputs_that_do_not_fit", refused)
}

#[kernel(map)]
fn scale(out: &mut f32, a: &f32, factor: f32) {
    *out = *a * factor;
}

#[kernel(map)]
fn add_in_place(data: &mut f32, added: &f32) {
    *data += *added;
}

mod kernels {
    use streamflow::prelude::*;

    /// Two outputs of two types, and three values.
    #[kernel(map)]
    pub(super) fn split(
        part: &mut f32,
        whole: &mut i32,
        a: &f32,
        b: &f32,
        by: f32,
        least: f32,
        most: i32,
    ) {
        let x = (*a - *b) / by;
        let x = if x < least { least } else { x };
        let number = x as i32;
        *part = x - number as f32;
        *whole = if number > most { most } else { number };
    }
}

/// Each operator twice: made by the macro, and by hand.
mod made {
    use super::*;

    #[operator(map = scale)]
    pub(super) struct Scale {
        #[input]
        image: &Tensor<f32>,
        #[output]
        scaled: Tensor<f32>,
        #[param(range = 0.0..=10.0)]
        factor: f32,
    }

    /// The tensor of `data` is changed, and sent by `sum`.
    #[operator(map = add_in_place)]
    pub(super) struct Add {
        #[input]
        added: &Tensor<f32>,
        #[output]
        sum: Tensor<f32>,
        #[input]
        data: Tensor<f32>,
    }

    pub(super) type Image = Tensor<f32>;

    #[operator(map = kernels::split, stays)]
    pub(super) struct Split {
        by: f32,
        #[output]
        part: Image,
        #[input]
        a: Shared<Image>,
        least: f32,
        #[output]
        whole: Tensor<i32>,
        #[input]
        b: &Image,
        most: i32,
    }
}

mod by_hand {
    use super::*;

    #[operator]
    pub(super) struct Scale {
        #[input]
        image: &Tensor<f32>,
        #[output]
        scaled: Tensor<f32>,
        factor: f32,
    }

    impl Compute for Scale {
        fn compute(&mut self, io: ScaleIo<'_>, cx: &ExecutionContext) -> Result<()> {
            let (image, stream) = io.image.receive().receive_cuda_stream(cx)?;
            let mut scaled = cx.tensor(image.shape(), &stream)?;
            stream.map::<scale>((&mut scaled, image, self.factor))?;
            io.scaled.emit(scaled)
        }
    }

    #[operator]
    pub(super) struct Add {
        #[input]
        added: &Tensor<f32>,
        #[output]
        sum: Tensor<f32>,
        #[input]
        data: Tensor<f32>,
    }

    impl Compute for Add {
        fn compute(&mut self, io: AddIo<'_>, cx: &ExecutionContext) -> Result<()> {
            let (added, stream) = io.added.receive().receive_cuda_stream(cx)?;
            let (mut data, _) = io.data.receive().receive_cuda_stream(cx)?;
            stream.map::<add_in_place>((&mut data, added))?;
            io.sum.emit(data)
        }
    }

    #[operator]
    pub(super) struct Split {
        #[input]
        a: Shared<Tensor<f32>>,
        #[input]
        b: &Tensor<f32>,
        #[output]
        part: Tensor<f32>,
        #[output]
        whole: Tensor<i32>,
        by: f32,
        least: f32,
        most: i32,
    }

    impl Compute for Split {
        fn compute(&mut self, io: SplitIo<'_>, cx: &ExecutionContext) -> Result<()> {
            let (a, stream) = io.a.receive().receive_cuda_stream(cx)?;
            let (b, _) = io.b.receive().receive_cuda_stream(cx)?;
            let mut part = cx.tensor(a.shape(), &stream)?;
            let mut whole = cx.tensor(a.shape(), &stream)?;
            let values = (self.by, self.least, self.most);
            stream.map::<kernels::split>((
                &mut part, &mut whole, &a, b, values.0, values.1, values.2,
            ))?;
            io.part.emit(part)?;
            io.whole.emit(whole)
        }
    }
}

/// Sends `first + tick`, `first + tick + 1`, … in this shape.
#[operator(streams(fill))]
struct Numbers {
    #[output]
    image: Tensor<f32>,
    shape: Vec<usize>,
    first: f32,
}

impl Compute for Numbers {
    fn compute(&mut self, io: NumbersIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let stream = cx.allocate_cuda_stream(io.fill)?;
        let first = self.first + cx.tick() as f32;
        let mut image = cx.tensor(&*self.shape, &stream)?;
        let mut pinned = cx.pinned(image.len())?;
        for (i, value) in pinned.as_mut_slice_blocking()?.iter_mut().enumerate() {
            *value = first + i as f32;
        }
        stream.upload(&pinned, &mut image)?;
        io.image.set_cuda_stream(&stream).emit(image)
    }
}

/// Keeps the shape and the elements of each tensor.
#[operator]
struct Keep<T: Element> {
    #[input]
    image: &Tensor<T>,
    seen: Vec<(Vec<usize>, Vec<T>)>,
}

impl<T: Element> Compute for Keep<T> {
    fn compute(&mut self, io: Self::Io<'_>, cx: &ExecutionContext) -> Result<()> {
        let (image, stream) = io.image.receive().receive_cuda_stream(cx)?;
        let download = cx.download(image, &stream)?;
        self.seen.push((image.shape().to_vec(), download.wait_blocking()?.to_vec()));
        Ok(())
    }
}

macro_rules! chain {
    ($name:ident of $operators:ident) => {
        graph! {
            struct $name(shape: &[usize], ticks: u64) {
                const GPU: CudaStreamPool = CudaStreamPool::new().max_size(8);

                #[streams(GPU)] #[when(count(ticks))]
                let a: Numbers = Numbers::new(shape.to_vec(), 10.0);
                #[streams(GPU)] #[when(count(ticks))]
                let b: Numbers = Numbers::new(shape.to_vec(), 0.5);
                #[streams(GPU)] let scale: $operators::Scale = $operators::Scale::new(3.0);
                #[streams(GPU)] let add: $operators::Add = $operators::Add::new();
                #[streams(GPU)] let split: $operators::Split = $operators::Split::new(4.0, 2.0, 7);
                #[streams(GPU)] let part: Keep<f32> = Keep::new(Vec::new());
                #[streams(GPU)] let whole: Keep<i32> = Keep::new(Vec::new());

                a.image >> scale.image;
                scale.scaled >> add.data;
                b.image >> (add.added, split.b);
                add.sum >> split.a;
                split.part >> part.image;
                split.whole >> whole.image;
            }
        }
    };
}

chain!(Made of made);
chain!(ByHand of by_hand);

fn equal(platform: &Platform) -> Result<(), Failed> {
    for shape in [&[1][..], &[70, 30], &[0], &[2, 3, 4, 5]] {
        let (mut made, mut by_hand) =
            (Made::new(platform, shape, 4)?, ByHand::new(platform, shape, 4)?);
        made.run()?;
        by_hand.run()?;
        check_equal(&made.part().seen, &by_hand.part().seen)?;
        check_equal(&made.whole().seen, &by_hand.whole().seen)?;
        // By a computation of its own: (3 a + b - b) / 4, at least 2, of which the whole part is at most 7.
        let len: usize = shape.iter().product();
        let element = |tick: u64, i: usize| (3.0 * (10.0 + tick as f32 + i as f32) / 4.0).max(2.0);
        let wanted = |tick| (0..len).map(move |i| (element(tick, i) as i32).min(7)).collect();
        let wanted: Vec<_> = (0..4).map(|tick| (shape.to_vec(), wanted(tick))).collect();
        check_equal(&made.whole().seen, &wanted)?;
    }
    Ok(())
}

#[kernel(map)]
fn less(out: &mut f32, a: &f32, b: &f32, more: f32, by: f32) {
    *out = (*a - *b) / by + more;
}

#[operator(map = less)]
struct Less {
    more: f32,
    #[input]
    a: &Tensor<f32>,
    #[output]
    out: Tensor<f32>,
    #[input]
    b: &Tensor<f32>,
    by: f32,
}

/// The same, with the other order of inputs and fields.
#[operator(map = less)]
struct Swapped {
    by: f32,
    #[input]
    b: &Tensor<f32>,
    #[output]
    out: Tensor<f32>,
    more: f32,
    #[input]
    a: &Tensor<f32>,
}

graph! {
    struct Both(of_a: Vec<usize>, of_b: Vec<usize>) {
        const GPU: CudaStreamPool = CudaStreamPool::new().max_size(8);

        #[streams(GPU)] #[when(count(2))] let a: Numbers = Numbers::new(of_a, 1.0);
        #[streams(GPU)] #[when(count(2))] let b: Numbers = Numbers::new(of_b, 5.0);
        #[streams(GPU)] let less: Less = Less::new(100.0, 2.0);
        #[streams(GPU)] let swapped: Swapped = Swapped::new(100.0, 2.0);
        #[streams(GPU)] let first: Keep<f32> = Keep::new(Vec::new());
        #[streams(GPU)] let second: Keep<f32> = Keep::new(Vec::new());

        a.image >> (less.a, swapped.a);
        b.image >> (less.b, swapped.b);
        less.out >> first.image;
        swapped.out >> second.image;
    }
}

fn order(platform: &Platform) -> Result<(), Failed> {
    let mut graph = Both::new(platform, vec![2], vec![2])?;
    graph.run()?;
    check_equal(&graph.first().seen, &vec![(vec![2], vec![98.0; 2]); 2])?;
    // The control: the first input of `Swapped` is `b`, and its first field is `by`.
    check_equal(&graph.second().seen, &vec![(vec![2], vec![4.0 / 2.0 + 100.0; 2]); 2])
}

fn broadcast(platform: &Platform) -> Result<(), Failed> {
    let mut graph = Both::new(platform, vec![2, 1], vec![3])?;
    graph.run()?;
    // a is [[1], [2]], and b is [5, 6, 7].
    let wanted = vec![98.0, 97.5, 97.0, 98.5, 98.0, 97.5];
    check_equal(&graph.first().seen, &vec![(vec![2, 3], wanted); 2])
}

graph! {
    struct One(of_a: Vec<usize>, of_b: Vec<usize>) {
        const GPU: CudaStreamPool = CudaStreamPool::new().max_size(8);

        #[streams(GPU)] #[when(count(2))] let a: Numbers = Numbers::new(of_a, 1.0);
        #[streams(GPU)] #[when(count(2))] let b: Numbers = Numbers::new(of_b, 5.0);
        #[streams(GPU)] let less: Less = Less::new(100.0, 2.0);

        a.image >> less.a;
        b.image >> less.b;
        less.out >> _;
    }
}

fn refused(platform: &Platform) -> Result<(), Failed> {
    let mut graph = One::new(platform, vec![2, 3], vec![2])?;
    let text = check_error(
        "shapes",
        graph.run(),
        |error| matches!(error, Error::Operator { node, .. } if node == "less"),
    )?;
    check_text(&text, &["kernel `less`", "`a` is [2, 3]", "`b` is [2]", "each dimension"])
}

fn parameters(platform: &Platform) -> Result<(), Failed> {
    let mut graph = Made::new(platform, &[1], u64::MAX)?;
    graph.tick()?;
    graph.params().scale().set_factor(1.0)?;
    graph.tick()?;
    check_error("a factor", graph.params().scale().set_factor(11.0), |error| {
        error.to_string().contains("factor")
    })?;
    graph.end_run()?;
    // 3 * 10 / 4, and 1 * 11 / 4.
    check_equal(&graph.whole().seen, &vec![(vec![1], vec![7]), (vec![1], vec![2])])
}
