//! Launches that must be an error both on a GPU and on the simulator: the grid is too small for the slices that
//! the kernel writes, it has other dimensions than the kernel's body reads, or it has no shared memory and the
//! body uses some.

use streamflow::prelude::*;
use streamflow_tests::kernels::{fill, number_in_rows, transpose};
use streamflow_tests::setup::stream;
use streamflow_tests::{Failed, Suite, check, check_equal, check_error, check_text};

const LEN: usize = 1003;

pub(crate) fn suite() -> Suite {
    Suite::new()
        .both("a_grid_that_is_too_small_is_refused", too_small)
        .both("a_launch_like_an_earlier_one_is_checked_for_its_own_slices", again)
        .both("an_operator_with_the_grid_of_another_tensor_is_named", of_another_tensor)
        .both("a_kernel_that_loops_writes_all_with_any_grid", loops)
        .both("a_kernel_that_writes_a_part_takes_any_grid", partial)
        .both("one_block_for_each_element_is_enough", block_per_row)
        .both("a_part_of_a_slice_takes_a_smaller_grid", part_of_a_slice)
        .both("a_body_that_reads_its_row_needs_a_grid_with_rows", without_rows)
        .both("a_body_that_reads_no_row_needs_a_grid_without_rows", with_rows)
        .both("threads_that_a_body_cannot_tell_apart_count_once", alike)
        .both("a_body_with_dynamic_shared_memory_needs_some", shared)
}

fn refused(launched: Result<(), Error>) -> Result<String, Failed> {
    check_error("a grid that is too small", launched, |error| matches!(error, Error::Grid { .. }))
}

fn too_small(platform: &Platform) -> Result<(), Failed> {
    let s = stream(platform)?;
    let mut data = platform.buffer::<f32>(LEN, &s)?;
    s.launch::<fill>(LEN, (&mut data, 1.0))?;
    let too_small =
        [Grid::from(LEN - 1), [LEN / 2, 2].into(), 0.into(), Grid::blocks(31).threads(32)];
    for grid in too_small {
        let text = refused(s.launch::<fill>(grid, (&mut data, 2.0)))?;
        check_text(&text, &["kernel `fill`", "`out`", "is 1003", "grid of 1003", "`grid_stride`"])?;
    }
    // The refused launch did not run, and the stream still works.
    check_equal(s.download_blocking(&data)?, vec![1.0; LEN])?;
    for grid in [Grid::from(LEN + 5000), Grid::blocks(32).threads(32)] {
        s.launch::<fill>(grid, (&mut data, 3.0))?;
    }
    check_equal(s.download_blocking(&data)?, vec![3.0; LEN])?;
    let mut empty = platform.buffer::<f32>(0, &s)?;
    Ok(s.launch::<fill>(0, (&mut empty, 2.0))?)
}

/// Checks that a thread that has remembered a launch as checked still refuses the same launch with longer slices.
fn again(platform: &Platform) -> Result<(), Failed> {
    let s = stream(platform)?;
    for grid in [Grid::from(LEN), Grid::blocks(LEN.div_ceil(32)).threads(32)] {
        let mut short = platform.buffer::<f32>(LEN, &s)?;
        let mut long = platform.buffer::<f32>(2 * LEN, &s)?;
        s.fill_bytes(&mut long, 0)?;
        for tick in 1..=3 {
            s.launch::<fill>(grid, (&mut short, tick as f32))?;
            let text = refused(s.launch::<fill>(grid, (&mut long, tick as f32)))?;
            check_text(&text, &["kernel `fill`", "`out`", "is 2006"])?;
            s.launch::<fill>(2 * LEN, (&mut short, -1.0))?;
            s.launch::<fill>(grid, (&mut short, tick as f32))?;
            check_equal(s.download_blocking(&short)?, vec![tick as f32; LEN])?;
        }
        check_equal(s.download_blocking(&long)?, vec![0.0; 2 * LEN])?;
    }
    Ok(())
}

#[operator(streams(fill))]
struct Source {
    #[output]
    image: Tensor<f32>,
}

impl Compute for Source {
    fn compute(&mut self, io: SourceIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let stream = cx.allocate_cuda_stream(io.fill)?;
        let mut image = cx.tensor([4], &stream)?;
        stream.launch::<fill>(4, (&mut image, 1.0))?;
        io.image.set_cuda_stream(&stream).emit(image)
    }
}

/// An operator that launches a kernel with a grid for its input, but an output tensor of twice that length.
#[operator]
struct Double {
    #[input]
    small: &Tensor<f32>,
    #[output]
    large: Tensor<f32>,
}

impl Compute for Double {
    fn compute(&mut self, io: DoubleIo<'_>, cx: &ExecutionContext) -> Result<()> {
        let (small, stream) = io.small.receive().receive_cuda_stream(cx)?;
        let mut large = cx.tensor([2 * small.len()], &stream)?;
        stream.launch::<fill>(small.len(), (&mut large, 5.0))?;
        io.large.emit(large)
    }
}

graph! {
    struct Doubled {
        #[when(count(1))] let source: Source = Source::new();
        let double: Double = Double::new();
        source.image >> double.small;
        double.large >> _;
    }
}

fn of_another_tensor(platform: &Platform) -> Result<(), Failed> {
    let run = Doubled::new(platform)?.run();
    let text = check_error("the run", run, |error| matches!(error, Error::Operator { .. }))?;
    check_text(&text, &["operator `double`", "kernel `fill`", "for 4 elements", "length is 8"])
}

/// data[i] = i
#[kernel(grid_stride, unsafe cuda = "
    for (unsigned long long i = thread_index(); i < data_len; i += thread_count()) data[i] = i;
")]
fn count(data: &mut [f32]) {
    data.iter_mut().enumerate().for_each(|(i, x)| *x = i as f32);
}

fn loops(platform: &Platform) -> Result<(), Failed> {
    let s = stream(platform)?;
    for grid in [Grid::from(1), LEN.into(), Grid::blocks(3).threads(64)] {
        let mut data = platform.buffer::<f32>(LEN, &s)?;
        s.launch::<count>(grid, (&mut data,))?;
        let found = s.download_blocking(&data)?;
        check((0..LEN).all(|i| found[i] == i as f32), || format!("{grid:?}: {found:?}"))?;
        check_text(&refused(s.launch::<count>(0, (&mut data,)))?, &["kernel `count`", "is empty"])?;
    }
    Ok(())
}

/// Writes the first `n` elements of `out`.
#[kernel(partial, requires(n <= out.len()), unsafe cuda = "
    unsigned long long i = thread_index();
    if (i < n) out[i] = 1.0f;
")]
fn first(out: &mut [f32], n: usize) {
    out[..n].fill(1.0);
}

fn partial(platform: &Platform) -> Result<(), Failed> {
    let s = stream(platform)?;
    for n in [0, 1, 7, LEN] {
        let mut data = platform.buffer::<f32>(LEN, &s)?;
        s.launch::<fill>(LEN, (&mut data, 0.0))?;
        s.launch::<first>(n, (&mut data, n))?;
        let found = s.download_blocking(&data)?;
        check((0..LEN).all(|i| (found[i] == 1.0) == (i < n)), || format!("{n}: {found:?}"))?;
    }
    Ok(())
}

/// Computes the sums of the rows, each in a block of its own.
#[kernel(threads(32), requires(input.len() == sums.len() * cols as usize), unsafe cuda = "
    if (threadIdx.x != 0 || blockIdx.x >= sums_len) return;
    float sum = 0.0f;
    for (unsigned int c = 0; c < cols; c++) sum += input[blockIdx.x * (unsigned long long)cols + c];
    sums[blockIdx.x] = sum;
")]
fn sum_rows(sums: &mut [f32], input: &[f32], cols: u32) {
    for (sum, row) in sums.iter_mut().zip(input.chunks(cols as usize)) {
        *sum = row.iter().sum();
    }
}

fn block_per_row(platform: &Platform) -> Result<(), Failed> {
    let s = stream(platform)?;
    let mut input = platform.buffer::<f32>(3 * LEN, &s)?;
    s.launch::<fill>(input.len(), (&mut input, 2.0))?;
    let mut sums = platform.buffer::<f32>(LEN, &s)?;
    s.launch::<sum_rows>(Grid::blocks(LEN), (&mut sums, &input, 3))?;
    check_equal(s.download_blocking(&sums)?, vec![6.0; LEN])
}

fn part_of_a_slice(platform: &Platform) -> Result<(), Failed> {
    let s = stream(platform)?;
    let mut data = platform.buffer::<f32>(8, &s)?;
    s.launch::<fill>(8, (&mut data, 1.0))?;
    let mut part = data.slice_mut(2..5).ok_or_else(|| Failed::msg("no such part"))?;
    s.launch::<fill>(3, (&mut part, 2.0))?;
    check_equal(s.download_blocking(&data)?, vec![1.0, 1.0, 2.0, 2.0, 2.0, 1.0, 1.0, 1.0])
}

/// Checks a kernel over rows with a grid of one dimension, in which every thread would be in the first row.
fn without_rows(platform: &Platform) -> Result<(), Failed> {
    let (s, rows, cols) = (stream(platform)?, 5_usize, 3_usize);
    let input: Vec<i32> = (1..=15).collect();
    let mut device_input = platform.buffer::<i32>(input.len(), &s)?;
    s.upload_blocking(&input, &mut device_input)?;
    let mut out = platform.buffer::<i32>(input.len(), &s)?;
    let size = (rows as u32, cols as u32);
    for grid in [Grid::from(15), Grid::blocks(15), Grid::blocks(1).threads(32)] {
        let text = refused(s.launch::<transpose>(grid, (&mut out, &device_input, size.0, size.1)))?;
        check_text(
            &text,
            &["kernel `transpose`", "`thread_index_y()`", "launch it with `[cols, rows]`"],
        )?;
    }
    let turned: Vec<i32> = (0..15).map(|i| input[i % rows * cols + i / rows]).collect();
    for grid in [Grid::from([cols, rows]), Grid::blocks(1).threads([4, 8])] {
        s.fill_bytes(&mut out, 0)?;
        s.launch::<transpose>(grid, (&mut out, &device_input, size.0, size.1))?;
        check_equal(s.download_blocking(&out)?, turned.clone())?;
    }
    // A body that loops over its rows is right with any grid.
    s.fill_bytes(&mut out, 0)?;
    s.launch::<number_in_rows>(cols, (&mut out, cols as u32))?;
    check_equal(s.download_blocking(&out)?, (0..15).collect::<Vec<i32>>())?;
    let mut empty = platform.buffer::<i32>(0, &s)?;
    let none = platform.buffer::<i32>(0, &s)?;
    Ok(s.launch::<transpose>(0, (&mut empty, &none, 0, 0))?)
}

/// Checks kernels of one dimension with a grid of several rows: the threads of each row would do the same work
/// again.
fn with_rows(platform: &Platform) -> Result<(), Failed> {
    let (s, rows, cols) = (stream(platform)?, 5_usize, 3_usize);
    let mut out = platform.buffer::<f32>(rows * cols, &s)?;
    s.launch::<fill>(rows * cols, (&mut out, 1.0))?;
    let grids = [
        Grid::from([cols, rows]),
        [rows * cols, 1].into(),
        [cols, rows, 1].into(),
        Grid::blocks([1, 2]).threads(32),
        Grid::blocks(1).threads([8, 4]),
    ];
    for grid in grids {
        for (kernel, launched) in [
            ("fill", s.launch::<fill>(grid, (&mut out, 2.0))),
            ("count", s.launch::<count>(grid, (&mut out,))),
            ("first", s.launch::<first>(grid, (&mut out, 2))),
        ] {
            let text = refused(launched)?;
            let named = format!("kernel `{kernel}`");
            check_text(&text, &[&named, &grid.to_string(), "in x alone", "`thread_index_y()`"])?;
        }
    }
    let text = refused(s.launch::<fill>([cols, rows], (&mut out, 2.0)))?;
    check_text(&text, &["3x5 elements", "launch it with a grid of 15,"])?;
    // The kernel reads two dimensions, and is refused with a grid of three.
    let input = platform.buffer::<i32>(rows * cols, &s)?;
    let mut turned = platform.buffer::<i32>(rows * cols, &s)?;
    let size = (rows as u32, cols as u32);
    let planes = s.launch::<transpose>([cols, rows, 1], (&mut turned, &input, size.0, size.1));
    let text = refused(planes)?;
    check_text(&text, &["kernel `transpose`", "in x and y alone", "differ in z"])?;
    // No refused launch has run. A grid without threads is accepted, and launches nothing.
    check_equal(s.download_blocking(&out)?, vec![1.0; rows * cols])?;
    s.launch::<first>([0, 2], (&mut out, 0))?;
    check_equal(s.download_blocking(&out)?, vec![1.0; rows * cols])
}

/// Each block of a grid would write the same elements.
#[kernel(unsafe cuda = "if (threadIdx.x < out_len) out[threadIdx.x] = 1.0f;")]
fn by_thread(out: &mut [f32]) {
    out.fill(1.0);
}

/// All threads of a block would write the same element.
#[kernel(unsafe cuda = "if (blockIdx.x < out_len) out[blockIdx.x] = 1.0f;")]
fn by_block(out: &mut [f32]) {
    out.fill(1.0);
}

fn alike(platform: &Platform) -> Result<(), Failed> {
    let s = stream(platform)?;
    let mut out = platform.buffer::<f32>(LEN, &s)?;
    s.launch::<fill>(LEN, (&mut out, 0.0))?;
    let mut short = platform.buffer::<f32>(64, &s)?;
    for _ in 0..2 {
        let text = refused(s.launch::<by_thread>(Grid::from(LEN).threads(64), (&mut out,)))?;
        let parts = ["kernel `by_thread`", "64 elements of `out`", "is 1003", "not `blockIdx.x`"];
        check_text(&text, &parts)?;
        check_text(&text, &["all blocks write the same", "read `thread_index()`", "`partial`"])?;
        let text = refused(s.launch::<by_block>(Grid::from(LEN).threads(64), (&mut out,)))?;
        check_text(&text, &["kernel `by_block`", "write 16 elements", "not `threadIdx.x`"])?;
        // No refused launch has run. A grid is accepted if it has a thread for each element, although several threads do
        // the same.
        check_equal(s.download_blocking(&out)?, vec![0.0; LEN])?;
        s.launch::<by_thread>(Grid::from(64).threads(64), (&mut short,))?;
        check_equal(s.download_blocking(&short)?, vec![1.0; 64])?;
        s.fill_bytes(&mut short, 0)?;
        s.launch::<by_thread>(Grid::blocks(3).threads(64), (&mut short,))?;
        check_equal(s.download_blocking(&short)?, vec![1.0; 64])?;
        let mut longer = platform.buffer::<f32>(65, &s)?;
        let text = refused(s.launch::<by_thread>(Grid::blocks(3).threads(64), (&mut longer,)))?;
        check_text(&text, &["kernel `by_thread`", "64 elements of `out`", "is 65"])?;
    }
    s.launch::<by_block>(Grid::blocks(LEN).threads(32), (&mut out,))?;
    check_equal(s.download_blocking(&out)?, vec![1.0; LEN])
}

/// Reverses the elements of each block by means of shared memory.
#[kernel(requires(out.len() == input.len()), unsafe cuda = "
    extern __shared__ float block[];
    unsigned long long i = thread_index();
    if (i < input_len) block[threadIdx.x] = input[i];
    __syncthreads();
    if (i < out_len) out[i] = block[out_len - 1 - threadIdx.x];
")]
fn reversed(out: &mut [f32], input: &[f32]) {
    out.copy_from_slice(input);
    out.reverse();
}

fn shared(platform: &Platform) -> Result<(), Failed> {
    let s = stream(platform)?;
    let mut input = platform.buffer::<f32>(3, &s)?;
    s.upload_blocking(&[1.0, 2.0, 3.0], &mut input)?;
    let mut out = platform.buffer::<f32>(3, &s)?;
    let grid = Grid::from(3).threads(32);
    let text = refused(s.launch::<reversed>(grid, (&mut out, &input)))?;
    check_text(&text, &["kernel `reversed`", "`extern __shared__`", "add `.shared_bytes(…)`"])?;
    s.launch::<reversed>(grid.shared_bytes(32 * 4), (&mut out, &input))?;
    check_equal(s.download_blocking(&out)?, vec![3.0, 2.0, 1.0])?;
    check_text(&refused(s.launch::<reversed>(grid, (&mut out, &input)))?, &["`reversed`"])
}
