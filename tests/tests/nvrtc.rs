//! Kernels of every kind, compiled by a real NVRTC for every architecture that streamflow supports. No GPU is
//! needed. Without NVRTC the tests are reported as ignored, with the reason; with `STREAMFLOW_REQUIRE_NVRTC=1`
//! they fail.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod stencils;

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use half::{bf16, f16};
use streamflow::__private::{
    CudaBody, Described, KERNELS, KernelInfo, MapKernel, ParamKind, Scanned,
};
use streamflow::Element;
use streamflow::driver::DriverError;
use streamflow::kernel::reductions::{ArgMax, ArgMin, Max, Mean, Min, Norm1, Norm2, NormInf, Sum};
use streamflow::kernel::{CompiledCode, Kernel, Strided, compile_for};
use streamflow::memory::{Bool8, Complex};
use streamflow::{kernel, kernel_fn};
use streamflow_tests::{Failed, Suite, child};

const REQUIRE: &str = "STREAMFLOW_REQUIRE_NVRTC";

type Test = fn() -> Result<(), Failed>;

/// The compute capabilities of Turing, Ampere, Hopper and Blackwell.
const ARCHITECTURES: [(u32, u32); 4] = [(7, 5), (8, 0), (9, 0), (10, 0)];

#[kernel(unsafe cuda = "
    unsigned long long i = thread_index();
    if (i < out_len) out[i] = expf(start + step * i);
")]
fn exp_linspace(out: &mut [f32], start: f32, step: f32) {
    for (i, x) in out.iter_mut().enumerate() {
        *x = (start + step * i as f32).exp();
    }
}

// The CUDA body is in a file of its own, and the kernel has the name of a function of CUDA.
#[kernel(requires(a.len() == b.len(), out.len() * cols as usize == a.len()),
    unsafe cuda = include_str!("cuda/row_sums.cu"))]
fn floor(out: &mut [f32], a: &[f32], b: &[f32], cols: u32) {
    let rows = a.chunks(cols as usize).zip(b.chunks(cols as usize));
    for (out, (a, b)) in out.iter_mut().zip(rows) {
        *out = a.iter().zip(b).map(|(a, b)| a * b).sum();
    }
}

// Each operation of `half` with numbers of other types.
#[kernel(instances(f16), unsafe cuda = r#"
    __shared__ half tile[32];
    unsigned long long i = thread_index();
    if (i < out_len) {
        half x = a[i];
        float f = x * 2.0f + 1 / x - x;
        double d = x + 1.0;
        x += bias; x -= 1; x *= 0.5; x /= 2u;
        tile[threadIdx.x % 32] = -x + x * x - x / bias;
        if (x < bias && x != 0 && x >= 0.5f && 1.0 > x) f = expf(x) + fmaxf(x, 0.0f);
        f += x;
        out[i] = half(i) + half(threadIdx.x) + f + half(d) + T(3) + tile[0];
    }
    typedef half T2;
"#)]
fn halves<T: Element>(out: &mut [T], a: &[T], bias: f16) {
    let _ = (out, a, bias);
}

// Each operation of `nv_bfloat16` with numbers of other types.
#[kernel(instances(bf16), unsafe cuda = r#"
    __shared__ nv_bfloat16 tile[32];
    unsigned long long i = thread_index();
    if (i < out_len) {
        nv_bfloat16 x = a[i];
        float f = x * 2.0f + 1 / x - x;
        double d = x + 1.0;
        x += bias; x -= 1; x *= 0.5; x /= 2u;
        tile[threadIdx.x % 32] = -x + x * x - x / bias;
        if (x < bias && x != 0 && x >= 0.5f && 1.0 > x) f = expf(x) + fmaxf(x, 0.0f);
        f += x;
        out[i] = nv_bfloat16(i) + nv_bfloat16(threadIdx.x) + f + nv_bfloat16(d) + T(3) + tile[0];
    }
"#)]
fn upper_halves<T: Element>(out: &mut [T], a: &[T], bias: bf16) {
    let _ = (out, a, bias);
}

// Operations of complex numbers with each other and with numbers of other types, including `half` and
// `nv_bfloat16`.
#[kernel(instances(Complex<f32>, Complex<f64>), unsafe cuda = r#"
    __shared__ complex<double> tile[32];
    typedef decltype(a[0].re) Part;
    unsigned long long i = thread_index();
    if (i < out_len) {
        T x = a[i], y = *(a + i), z;
        tile[threadIdx.x % 32] = complex<double>(x) + 1;
        z = x + y - x * y / x;
        z += 1.0; z -= y; z *= 2; z /= Part(3);
        z = +z - -z + 1 + i * z - 2u / z + (h * z) / h + (s * z - s);
        if (z == x || z != T(1, 2)) z = conj(z) * norm_sqr(z) + abs(z) - arg(z) + polar(real(z), 1) + exp(z);
        z = T(complex<float>(tile[0])) * (x.re + y.im);
        out[i] = mask[i] && !mask[0] ? z : T(1);
        flags[i] = z == x;
        flags[i] = imag(z) > 0;
    }
"#)]
fn complex_numbers<T: Element>(
    out: &mut [T],
    flags: &mut [Bool8],
    a: &[T],
    mask: &[Bool8],
    h: f16,
    s: bf16,
) {
    let _ = (out, flags, a, mask, h, s);
}

#[kernel(instances(bf16, Complex<f32>, f16, f32, f64, i8, i64, u16), grid_stride, unsafe cuda = "
    for (unsigned long long i = thread_index(); i < data_len; i += thread_count())
        data[i] = data[i] * factor + T(1);
")]
fn scale<T: Element>(data: &mut [T], factor: T) {
    let _ = (data, factor);
}

#[kernel(unsafe cuda = "
    unsigned long long x = thread_index(), y = thread_index_y(), z = thread_index_z();
    if (x < a_len) { e[x] = a[x] + b[x] + c[x] + d[x] + f[x]; g[x] = h + k + y + z; }
")]
#[expect(clippy::too_many_arguments, reason = "one of each type")]
fn integers(
    a: &[i8],
    b: &[i16],
    c: &[i32],
    d: &[u8],
    e: &mut [i64],
    f: &[u16],
    g: &mut [u64],
    h: u32,
    k: usize,
) {
    let _ = (a, b, c, d, e, f, g, h, k);
}

// Each operation on pointers that a body may use. The slices of a checked build must support the same
// operations.
#[kernel(unsafe cuda = "
    int i = threadIdx.x;
    unsigned int u = i; long l = i; unsigned long ul = i; long long ll = i; unsigned long long ull = i;
    char c = 1; short s = 1;
    float v = a[i] + a[u] + a[l] + a[ul] + a[ll] + a[ull] + a[c] + a[s] + *a + *(a + 1) + (a + u)[l];
    const float* row = a + i;
    auto checked_row = a + ull - 1;
    v += row[0] + checked_row[2] + 1[row] + *(1 + row) + __ldg(&a[2]);
    out[i] = v; out[u] += v; *out = v; *(out + l) -= 1; ++out[0]; out[1]++;
    atomicAdd(&out[2], v); atomicAdd(out, v); atomicAdd(out + 1, v);
    auto p = out; p += 1; p -= u; ++p; p++; --p; *p++ = 2;
    if (out != nullptr && &out[0] == (float*)out && p - out == 0) out[ll] = a_len + out_len;
    float* raw = out; raw[0] = 1;
")]
fn pointers(out: &mut [f32], a: &[f32]) {
    let _ = (out, a);
}

// Every use of a view in a body, for plain elements and for structs.
#[kernel(instances(f32, f16, Complex<f32>), partial, unsafe cuda = "
    unsigned long long y = thread_index(); int x = threadIdx.x; unsigned z = 1; long w = 2;
    out(y, x) = a(y, x, z) + T(b(w));
    out[y] += a[y];
    T* row = &out(y, 0);
    row[x * out.stride(1)] = *a.data;
    if (out.shape(0) * out.shape(1) == out.size() && b.size() > 3) out(0, 1) = out(1, 0);
    out(y, 0) = deep(0, 1, 2, 3) ? T(1) : scale;
    auto same = out;
    same(0, 0) = T(2);
")]
fn strided<T: Element>(
    out: &mut Strided<T, 2>,
    a: &Strided<T, 3>,
    b: &Strided<u8, 1>,
    scale: T,
    deep: &Strided<Bool8, 4>,
) {
    let _ = (out, a, b, scale, deep);
}

const WRONG_LINE: u32 = line!() + 4;
#[kernel(unsafe cuda = "
    unsigned long long i = thread_index();
    if (i < out_len)
        out[i] = valeu;
")]
fn wrong(out: &mut [f32], value: f32) {
    out.fill(value);
}

#[kernel(unsafe cuda = "out[0] = value; }")]
fn unbalanced(out: &mut [f32], value: f32) {
    out.fill(value);
}

#[kernel(unsafe cuda = "a[0] = value;")]
fn writes_to_input(a: &[f32], value: f32) {
    let _ = (a, value);
}

/// Kernels of this file that must not compile.
const WRONG: [&KernelInfo; 3] = [wrong::INFO, unbalanced::INFO, writes_to_input::INFO];

/// Returns all other kernels of this file, each instance with a name.
fn kernels() -> impl Iterator<Item = (String, &'static KernelInfo)> {
    let all = KERNELS.iter().copied().flatten().filter_map(|registered| registered.info.as_ref());
    let own = all.filter(|info| info.file == file!() || info.file.ends_with(".cu"));
    let right = own.filter(|info| WRONG.iter().all(|wrong| wrong.name != info.name));
    right.map(|info| {
        let types: String = info.generics.iter().map(|(_, cuda)| format!("<{cuda}>")).collect();
        // A kernel of one element has code for slices, and code for strides.
        let has_strides = info.params.first().is_some_and(|param| param.kind == ParamKind::Shape);
        let form = if has_strides { "_with_strides" } else { "" };
        (format!("{}{form}{types}", info.name), info)
    })
}

fn compiles(info: &KernelInfo) -> Result<(), Failed> {
    for cc in ARCHITECTURES {
        for (mode, image) in
            [("unchecked", compile_for(info, cc)), ("checked", CompiledCode::checked_for(info, cc))]
        {
            let image =
                image.map_err(|error| Failed::msg(format!("{mode} for {cc:?}: {error}")))?;
            // A CUBIN is an ELF file, and must have the kernel under the name by which it is loaded.
            if !image.bytes().starts_with(b"\x7fELF") {
                return Err(Failed::msg(format!("{mode} for {cc:?}: no CUBIN")));
            }
            let entry = format!("{}\0", info.entry);
            if !image.bytes().windows(entry.len()).any(|bytes| bytes == entry.as_bytes()) {
                return Err(Failed::msg(format!("{mode} for {cc:?}: no `{}` in it", info.entry)));
            }
        }
    }
    Ok(())
}

/// Returns the compile error of a kernel that is wrong.
fn compile_error(info: &KernelInfo) -> String {
    match compile_for(info, (9, 0)) {
        Err(streamflow::Error::Driver(DriverError::Kernel { kernel, message })) => {
            assert_eq!(kernel, info.name);
            message
        }
        other => panic!("expected a compile error, got {other:?}"),
    }
}

fn expect(text: &str, part: &str) -> Result<(), Failed> {
    if text.contains(part) { Ok(()) } else { Err(Failed::msg(format!("no `{part}` in: {text}"))) }
}

fn errors_name_the_users_line() -> Result<(), Failed> {
    let message = compile_error(wrong::INFO);
    expect(&message, &format!("{}:{WRONG_LINE}: error: identifier \"valeu\"", file!()))?;
    // The checked build adds lines of source before the body, but its error names the same line of the kernel's
    // file.
    let checked = CompiledCode::checked_for(wrong::INFO, (9, 0)).unwrap_err().to_string();
    expect(&checked, &format!("{}:{WRONG_LINE}: error", file!()))?;
    expect(&compile_error(writes_to_input::INFO), &format!("{}:", file!()))?;
    expect(&compile_error(unbalanced::INFO), &format!("{}:", file!()))
}

fn errors_in_included_files_name_that_file() -> Result<(), Failed> {
    assert_eq!((floor::INFO.file, floor::INFO.line), ("cuda/row_sums.cu", 1));
    let info = KernelInfo { cuda: CudaBody::Text("\n\nno_such_thing();"), ..*floor::INFO };
    expect(&compile_error(&info), "cuda/row_sums.cu:3: error")
}

fn newer_devices_get_ptx() -> Result<(), Failed> {
    let image = compile_for(exp_linspace::INFO, (99, 9))?;
    let text = std::str::from_utf8(image.bytes())?;
    expect(text, ".entry exp_linspace_kernel")?;
    if !text.ends_with('\0') {
        return Err(Failed::msg("PTX must end with NUL for the driver"));
    }
    Ok(())
}

/// Products, sums, quotients and roots.
#[kernel(map)]
fn separate(out: &mut f32, wide: &mut f64, a: &f32, b: &f64, factor: f32) {
    let x = *a * factor + *out - *a * *a;
    *out = x / factor + x.sqrt();
    *wide = *b * *b + *wide - *b * *wide;
    *wide /= *b;
    *wide = (*wide).sqrt() * 3.0 + *b;
}

/// Functions that a kernel calls, with a report in one of them.
#[kernel_fn]
fn inner(a: u32, by: u32) -> u32 {
    if by > 3 { a / by } else { a.max(by) }
}

#[kernel_fn]
fn outer(a: f32, by: u32, is_signed: bool) -> f32 {
    let rest = inner(a as u32, by) as f32 * 0.5;
    if is_signed { -rest } else { rest }
}

#[kernel(map)]
fn with_functions(out: &mut f32, a: &u8, by: u32) {
    *out = outer(*out, inner(*a as u32, by), *a > 7) + outer(1.0, by, false);
}

#[kernel(map)]
fn fused(out: &mut f32, a: &f32, factor: f32) {
    *out = (*a).mul_add(factor, *out);
}

/// A GPU computes what the simulator does: no multiplication is fused with an addition, and no operation is approximate.
fn one_body_is_compiled_as_it_is_written() -> Result<(), Failed> {
    for info in [separate::LINEAR, separate::FLAT, separate::STRIDED] {
        let image = compile_for(info, (99, 9))?;
        let text = std::str::from_utf8(image.bytes())?;
        for part in [
            "mul.rn.f32",
            "add.rn.f32",
            "div.rn.f32",
            "sqrt.rn.f32",
            "mul.rn.f64",
            "div.rn.f64",
            "sqrt.rn.f64",
        ] {
            expect(text, part)?;
        }
        for part in ["fma.", ".approx", ".ftz"] {
            if let Some(line) = text.lines().find(|line| line.contains(part)) {
                return Err(Failed::msg(format!("`{part}` in: {line}")));
            }
        }
    }
    let image = compile_for(fused::LINEAR, (99, 9))?;
    expect(std::str::from_utf8(image.bytes())?, "fma.rn.f32")
}

#[kernel_fn]
fn square(x: f32) -> f32 {
    x * x + 0.5
}

#[kernel(reduce(identity = 0.0, map = square))]
fn squares(a: f32, b: f32) -> f32 {
    a + b
}

#[kernel(reduce(identity = 1))]
fn divided(a: i32, b: i32) -> i32 {
    a / b
}

/// Words of four elements are loaded at once, by loads that need no earlier one.
fn reductions_are_compiled_as_they_are_written() -> Result<(), Failed> {
    let image = compile_for(Described::<squares>::INFO, (99, 9))?;
    let text = std::str::from_utf8(image.bytes())?;
    for part in ["mul.rn.f32", "add.rn.f32", ".v4.f32", "shfl.sync.down"] {
        expect(text, part)?;
    }
    for part in ["fma.", ".approx", ".ftz"] {
        if let Some(line) = text.lines().find(|line| line.contains(part)) {
            return Err(Failed::msg(format!("`{part}` in: {line}")));
        }
    }
    let all = [
        Described::<divided>::INFO,
        Described::<Sum<u8>>::INFO,
        Described::<Mean<i32>>::INFO,
        Described::<Mean<f64>>::INFO,
        Described::<Min<f64>>::INFO,
        Described::<Max<u32>>::INFO,
        Described::<Max<i8>>::INFO,
        Described::<Mean<i16>>::INFO,
        Described::<Sum<i64>>::INFO,
        Described::<Min<u16>>::INFO,
        Described::<ArgMin<u64>>::INFO,
        Described::<ArgMin<u8>>::INFO,
        Described::<ArgMax<f64>>::INFO,
        Described::<Norm1<f32>>::INFO,
        Described::<Norm2<f64>>::INFO,
        Described::<NormInf<f32>>::INFO,
    ];
    all.into_iter().try_for_each(|info| Ok(compile_for(info, (9, 0)).map(drop)?))
}

/// A scan posts a word together with the flag that says that it is there, by one access of 64 bits, and so it waits for both.
fn scans_are_compiled_as_they_are_written() -> Result<(), Failed> {
    let image = compile_for(Scanned::<squares>::INFO, (99, 9))?;
    let text = std::str::from_utf8(image.bytes())?;
    let parts = ["mul.rn.f32", "add.rn.f32", ".v4.f32", "shfl.sync.up", "atom.global.add.u64"];
    for part in parts {
        expect(text, part)?;
    }
    for access in ["ld.volatile", "st.volatile"] {
        let mut lines = text.lines().filter(|line| line.contains(access)).peekable();
        let is_there = lines.peek().is_some();
        if !is_there || lines.any(|line| !line.contains(".u64") && !line.contains(".b64")) {
            return Err(Failed::msg(format!("`{access}` is not of 64 bits alone in:\n{text}")));
        }
    }
    for part in ["fma.", ".approx", ".ftz"] {
        if let Some(line) = text.lines().find(|line| line.contains(part)) {
            return Err(Failed::msg(format!("`{part}` in: {line}")));
        }
    }
    let all = [
        Scanned::<divided>::INFO,
        Scanned::<Sum<u8>>::INFO,
        Scanned::<Mean<i32>>::INFO,
        Scanned::<Max<i16>>::INFO,
        Scanned::<ArgMin<u64>>::INFO,
        Scanned::<Min<f64>>::INFO,
        Scanned::<ArgMax<f64>>::INFO,
    ];
    all.into_iter().try_for_each(|info| Ok(compile_for(info, (9, 0)).map(drop)?))
}

fn the_error_names_a_device_that_is_too_old() -> Result<(), Failed> {
    let error = compile_for(exp_linspace::INFO, (1, 0)).unwrap_err().to_string();
    expect(&error, "compute capability 1.0")
}

fn a_nul_in_the_source_is_an_error() -> Result<(), Failed> {
    let info = KernelInfo { cuda: CudaBody::Text("out[0] = 1;\0"), ..*exp_linspace::INFO };
    expect(&compile_error(&info), "NUL")
}

/// The child process: it gets one kernel's image by way of the caches.
pub(crate) fn in_child(_: &str) -> Result<(), Failed> {
    let images = [
        CompiledCode::cached_for(exp_linspace::INFO, (9, 0))?,
        CompiledCode::cached_for(exp_linspace::INFO, (9, 0))?,
    ];
    assert_eq!(images[0], images[1]);
    assert_eq!(images[0], compile_for(exp_linspace::INFO, (9, 0))?);
    Ok(())
}

/// Runs the child process with a cache directory. Returns the files of the directory with their inodes.
fn files_after_child(dir: &Path) -> Result<Vec<(PathBuf, u64)>, Failed> {
    child::run("nvrtc", "cache", &[("STREAMFLOW_CACHE_DIR", &dir.to_string_lossy())])?;
    let entries = std::fs::read_dir(dir)?.collect::<Result<Vec<_>, _>>()?;
    entries.iter().map(|entry| Ok((entry.path(), entry.metadata()?.ino()))).collect()
}

fn code_is_cached_on_disk_and_damaged_files_are_replaced() -> Result<(), Failed> {
    let dir = tempfile::tempdir()?;
    let first = files_after_child(dir.path())?;
    let [(path, _)] = first.as_slice() else {
        return Err(Failed::msg(format!("one file was expected: {first:?}")));
    };
    let whole = std::fs::read(path)?;
    // Each write of a cache file makes a new inode. The same inode means that the second child has read the first
    // one's file.
    if files_after_child(dir.path())? != first {
        return Err(Failed::msg("the file was written again"));
    }
    std::fs::write(path, &whole[..whole.len() / 2])?;
    let replaced = files_after_child(dir.path())?;
    if replaced == first || std::fs::read(path)? != whole {
        return Err(Failed::msg(format!("the damaged file was not replaced: {replaced:?}")));
    }
    Ok(())
}

pub(crate) fn suite() -> Suite {
    let others: [(&str, Test); 11] = [
        ("stencils_compile", stencils::each_code_compiles),
        ("the_rows_of_a_stencil_share_what_they_read", stencils::rows_share_what_they_read),
        ("one_body_is_compiled_as_it_is_written", one_body_is_compiled_as_it_is_written),
        (
            "reductions_are_compiled_as_they_are_written",
            reductions_are_compiled_as_they_are_written,
        ),
        ("scans_are_compiled_as_they_are_written", scans_are_compiled_as_they_are_written),
        ("errors_name_the_users_line", errors_name_the_users_line),
        ("errors_in_included_files_name_that_file", errors_in_included_files_name_that_file),
        ("newer_devices_get_ptx", newer_devices_get_ptx),
        ("the_error_names_a_device_that_is_too_old", the_error_names_a_device_that_is_too_old),
        ("a_nul_in_the_source_is_an_error", a_nul_in_the_source_is_an_error),
        (
            "code_is_cached_on_disk_and_damaged_files_are_replaced",
            code_is_cached_on_disk_and_damaged_files_are_replaced,
        ),
    ];
    let suite = others.into_iter().fold(Suite::new(), |suite, (name, test)| {
        suite.optional(name, REQUIRE, move || where_there_is_nvrtc(test))
    });
    kernels().fold(suite, |suite, (name, info)| {
        let name = format!("compiles::{name}");
        suite.optional(&name, REQUIRE, move || where_there_is_nvrtc(|| compiles(info)))
    })
}

/// Runs a test, or returns why NVRTC can't be used.
fn where_there_is_nvrtc(
    test: impl FnOnce() -> Result<(), Failed>,
) -> Result<Option<String>, Failed> {
    match CompiledCode::compiler_version() {
        Ok(_) => test().map(|()| None),
        Err(missing) => Ok(Some(missing.to_string())),
    }
}
