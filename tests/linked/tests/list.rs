//! The linker's list has all kernels of a program and of the crates linked into it, in every profile. The section
//! `linked` of `.ci/run` runs this test with link-time optimization, since that drops unreferenced items.

use streamflow::__private::{Registered, kernels};
use streamflow::prelude::*;
use streamflow_tests_linked as _;

/// Writes `out[i] = by`. The kernel's instances are those that an operator launches.
#[kernel(unsafe cuda = "
    unsigned long long i = thread_index();
    if (i < out_len) out[i] = by;
")]
fn filled<T: Element>(out: &mut [T], by: T) {
    out.fill(by);
}

/// Sends eight times its number.
#[operator(streams(fill))]
struct Fill<T: Element> {
    #[output]
    numbers: Tensor<T>,
    by: T,
}

impl<T: Element> Compute for Fill<T> {
    fn compute(&mut self, io: FillIo<'_, T>, cx: &ExecutionContext) -> Result<()> {
        let stream = cx.allocate_cuda_stream(io.fill)?;
        let mut numbers = cx.tensor([8], &stream)?;
        stream.launch::<filled<T>>(8, (&mut numbers, self.by))?;
        io.numbers.set_cuda_stream(&stream).emit(numbers)
    }
}

graph! {
    /// Nothing makes it.
    struct Filled {
        #[when(count(1))] let fill: Fill<f64> = Fill::new(1.0);
        fill.numbers >> _;
    }
}

/// The kernels of the files with this part of a path, with their types.
fn of_file(part: &str) -> Vec<String> {
    let kernels = kernels().into_iter().filter(|kernel| kernel.file.contains(part));
    let name = |kernel: Registered| match kernel.info {
        None => format!("{} without instances", kernel.name),
        Some(info) => {
            let types = info.generics.iter().map(|(_, cuda)| format!("<{cuda}>"));
            format!("{}{}", kernel.name, types.collect::<String>())
        }
    };
    let mut names: Vec<String> = kernels.map(name).collect();
    names.sort();
    names
}

#[test]
fn the_kernels_of_a_crate_of_which_nothing_is_named_are_in_the_list() {
    let expected = ["copied<float>", "copied<unsigned char>", "ones", "without without instances"];
    assert_eq!(of_file("linked/src/lib.rs"), expected);
}

#[test]
fn an_instance_that_an_operator_of_a_graph_launches_is_in_the_list() {
    assert_eq!(of_file("linked/tests/list.rs"), ["filled<double>"]);
}

#[test]
fn the_kernels_of_the_library_are_in_the_list() {
    let expected = [
        "convolve_2d",
        "multiply_rows<complex<float>>",
        "multiply_rows<float>",
        "normalize",
        "resample<complex<float>>",
        "resample<float>",
    ];
    assert_eq!(of_file("streamflow/src/operators"), expected);
}
