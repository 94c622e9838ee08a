//! The compiled code of a stencil: what its threads read, and how.

use streamflow::__private::MapKernel;
use streamflow::kernel;
use streamflow::kernel::{Window, compile_for};
use streamflow_tests::{Failed, check};

use super::{ARCHITECTURES, expect};

/// The weighted mean of three by three elements.
#[kernel(stencil(reach = [1, 1], border = clamp))]
fn smooth(out: &mut f32, a: Window<f32>) {
    let mut sum = 0.0;
    for dy in -1..=1 {
        for dx in -1..=1 {
            let weight = (2 - dy * dy) * (2 - dx * dx);
            sum += weight as f32 * a.at(dy, dx);
        }
    }
    *out = sum * 0.0625;
}

/// A division that may be one by 0, two windows, and all dimensions.
#[kernel(stencil(reach = [1, 1, 2, 1], border = mirror))]
fn mirrored(out: &mut i32, a: Window<u8>, b: Window<i32>, by: &i32, #[at] i: usize) {
    *out = b.at(-1, 1, 2, 0) / *by + (a.at(0, 0, -2, 1) as usize + i) as i32;
}

/// The four rows of a thread read 6 by 3 elements within the edges. At an edge a loop has the rows, and reads 9.
pub(super) fn rows_share_what_they_read() -> Result<(), Failed> {
    for info in [smooth::LINEAR, smooth::STRIDED] {
        let image = compile_for(info, (99, 9))?;
        let text = std::str::from_utf8(image.bytes())?;
        let count = |part: &str| text.lines().filter(|line| line.contains(part)).count();
        let (cached, all) = (count("ld.global.nc.f32"), count("ld.global"));
        check(cached == all && all <= 6 * 3 + 9, || format!("{all} loads, {cached} cached"))?;
        expect(text, "mul.rn.f32")?;
        for part in ["fma.", ".approx", ".ftz", "div.", "rem."] {
            check(count(part) == 0, || format!("`{part}` in a stencil without a division"))?;
        }
    }
    Ok(())
}

pub(super) fn each_code_compiles() -> Result<(), Failed> {
    for info in [smooth::LINEAR, smooth::STRIDED, mirrored::LINEAR, mirrored::STRIDED] {
        for cc in ARCHITECTURES {
            let image = compile_for(info, cc)?;
            check(image.bytes().starts_with(b"\x7fELF"), || "no CUBIN".to_owned())?;
        }
    }
    Ok(())
}
