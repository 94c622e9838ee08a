// Type parameters, tables, arrays and structs of kernels with one body.
use streamflow::kernel::Float;
use streamflow::prelude::*;

#[kernel(map)]
fn lifetime<'a>(out: &'a mut f32) {
    *out = 0.0;
}

#[kernel(map)]
fn clause<T>(out: &mut T, a: &T)
where
    T: Float,
{
    *out = *a;
}

#[kernel_fn]
fn unbounded<T>(a: T) -> T {
    a
}

#[kernel(map)]
fn element<T: Element + Copy>(out: &mut T, a: &T) {
    *out = *a;
}

#[kernel(map)]
fn reserved<W1: Float>(out: &mut W1) {
    *out = 0 as W1;
}

#[kernel(map)]
fn anonymous(out: &mut f32, factor: impl Float) {
    *out = 1.0;
}

#[kernel_fn]
fn letter<const C: char>(a: f32) -> f32 {
    a
}

#[kernel(map)]
fn literal<T: Float>(out: &mut T, a: &T) {
    *out = *a * 2.0;
}

#[kernel(map)]
fn root<T: Float>(out: &mut T, a: &T) {
    *out = (*a).sqrt();
}

fn instance(s: &CudaStream, out: &mut Tensor<u32>, a: &Tensor<u32>) -> Result<()> {
    Ok(s.map::<root<u32>>((out, a))?)
}

#[kernel(map)]
fn table_written(out: &mut f32, table: &[f32]) {
    table[0] = *out;
}

#[kernel(map)]
fn table_as_a_value(out: &mut f32, table: &[f32]) {
    *out = table;
}

#[kernel(map)]
fn element_indexed(out: &mut f32, a: &f32) {
    *out = a[0];
}

#[kernel(map)]
fn index_of_another_type(out: &mut f32, a: &u32, table: &[f32]) {
    *out = table[*a];
}

#[kernel(map)]
fn number_indexed(out: &mut f32, a: &f32) {
    let x = *a;
    *out = x[0];
}

const TAPS: [f32; 3] = [0.25, 0.5, 0.25];

#[kernel(map)]
fn beyond(out: &mut f32) {
    *out = TAPS[3];
}

#[kernel(map)]
fn constant_written(out: &mut f32) {
    TAPS[0] = 1.0;
    *out = TAPS[0];
}

#[kernel_fn]
fn table_of_a_function(table: &[f32], i: usize) -> f32 {
    table[i]
}

#[kernel(map)]
fn inner_constant(out: &mut f32) {
    if *out > 0.0 {
        const N: f32 = 3.0;
        *out = N;
    }
}

#[kernel(map)]
fn number_of_a_field(out: &mut f32, lens: Lens) {
    *out = lens.0;
}

#[derive(Clone, Copy, KernelArg)]
struct Lens {
    focus: f32,
}

#[kernel(map)]
fn unknown_field(out: &mut f32, lens: Lens) {
    *out = lens.fokus;
}

#[derive(Clone, Copy)]
struct Whole {
    focus: f32,
}

#[kernel(map)]
fn without_derive(out: &mut f32, plain: Whole) {
    *out = plain.focus;
}

#[derive(Clone, Copy, KernelArg)]
enum Choice {
    Near,
}

#[derive(Clone, Copy, KernelArg)]
struct Pair(f32, f32);

#[derive(Clone, Copy, KernelArg)]
struct Generic<T> {
    focus: T,
}

#[derive(Clone, Copy, KernelArg)]
struct Empty {}

#[derive(Clone, Copy, KernelArg)]
struct Text {
    name: &'static str,
}

#[derive(KernelArg)]
struct Moved {
    focus: f32,
}

#[derive(Clone, Copy, KernelArg)]
struct Umlaut {
    größe: f32,
}

#[kernel(map)]
fn field_of_other_letters(out: &mut f32, umlaut: Umlaut) {
    *out = umlaut.größe;
}

fn main() {}
