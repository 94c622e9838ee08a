//! Mistakes in `expr!`.

use streamflow::prelude::*;

struct Empty;

fn types(s: &CudaStream, a: &Tensor<f32>, b: &Tensor<u8>, out: &mut Tensor<f32>) -> Result<()> {
    s.evaluate(&mut *out, expr!(a + b))?;
    s.evaluate(&mut *out, expr!(b))?;
    s.evaluate(&mut *out, a)?;
    Ok(())
}

fn operands(s: &CudaStream, a: &Tensor<f32>, name: &str, e: Empty, out: &mut Tensor<f32>) -> Result<()> {
    let list = vec![1.0_f32];
    s.evaluate(&mut *out, expr!(a * name))?;
    s.evaluate(&mut *out, expr!(list + 1.0))?;
    s.evaluate(&mut *out, expr!(e.x + a))?;
    s.evaluate(&mut *out, expr!(a + missing))?;
    let [p, q, r, t, u, v, w] = [1.0_f32; 7];
    s.evaluate(&mut *out, expr!(p + q + r + t + u + v + w))?;
    Ok(())
}

fn forms(s: &CudaStream, a: &Tensor<f32>, out: &mut Tensor<f32>) -> Result<()> {
    s.evaluate(&mut *out, expr!(a.sqroot()))?;
    s.evaluate(&mut *out, expr!(a[0]))?;
    s.evaluate(&mut *out, expr!(|x| x + a))?;
    s.evaluate(&mut *out, expr!(a as _))?;
    s.evaluate(&mut *out, expr!(*a))?;
    s.evaluate(&mut *out, expr!(linspace(0.0, 1.0)))?;
    s.evaluate(&mut *out, expr!(iota(1) as f32))?;
    s.evaluate(&mut *out, expr!())?;
    s.evaluate(&mut *out, expr!({ a = 2.0; a }))?;
    Ok(())
}

fn reductions(s: &CudaStream, a: &Tensor<f32>, out: &mut Tensor<f32>) -> Result<()> {
    let gain = 2.0_f32;
    s.evaluate(&mut *out, expr!(a.sum(1)))?;
    s.evaluate(&mut *out, expr!(a.mean(dim = 1)))?;
    s.evaluate(&mut *out, expr!(a.max(axis = 0, axis = 1)))?;
    s.evaluate(&mut *out, expr!(a.sum::<f32>()))?;
    s.evaluate(&mut *out, expr!(a.reduce(axis = 0)))?;
    s.evaluate(&mut *out, expr!(a.reduce::<Empty>()))?;
    s.evaluate(&mut *out, expr!(gain.sum()))?;
    s.evaluate(&mut *out, expr!({ let c = a * 2.0; c.sum() }))?;
    s.evaluate(&mut *out, expr!((a.sqroot() + 1.0).sum()))?;
    s.evaluate(&mut *out, expr!(a.max(axis = "1")))?;
    Ok(())
}

fn main() {}
