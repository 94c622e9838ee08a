//! The work that cuBLASLt does on each sum before it writes the sum.

/// The marker of a plan with products that have no bias.
#[derive(Debug, Clone, Copy)]
pub struct NoBias;

/// The marker of a plan with products that have a bias: each call takes the bias.
#[derive(Debug, Clone, Copy)]
pub struct Bias;

/// The function that is applied to each sum, after the bias.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Activation {
    #[default]
    None,
    Relu,
    Gelu,
}

impl Activation {
    /// cuBLASLt's `cublasLtEpilogue_t`.
    pub(crate) fn epilogue(self, has_bias: bool) -> i32 {
        const BIAS: i32 = 4;
        let bias = if has_bias { BIAS } else { 0 };
        match self {
            Self::None if has_bias => BIAS,
            Self::None => 1,
            Self::Relu => 2 | bias,
            Self::Gelu => 32 | bias,
        }
    }

    pub(crate) fn of(self, x: f32) -> f32 {
        match self {
            Self::None => x,
            // A NaN is not below 0, so it stays a NaN.
            Self::Relu if x < 0.0 => 0.0,
            Self::Relu => x,
            Self::Gelu => gelu(x),
        }
    }
}

/// The approximation of x Φ(x) by tanh that cuBLASLt computes: `0.5 x (1 + tanh(sqrt(2/π) (x + 0.044715 x³)))`.
fn gelu(x: f32) -> f32 {
    const SQRT_2_OVER_PI: f32 = 0.797_884_6;
    0.5 * x * (1.0 + (SQRT_2_OVER_PI * (x + 0.044_715 * x * x * x)).tanh())
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::Activation::{Gelu, None, Relu};

    #[test]
    fn epilogues_have_the_numbers_of_cublaslt() {
        let numbers = [None, Relu, Gelu].map(|it| (it.epilogue(false), it.epilogue(true)));
        assert_eq!(numbers, [(1, 4), (2, 6), (32, 36)]);
    }

    #[test]
    fn gelu_is_near_x_phi_of_x() {
        // The exact values are x Φ(x), by a table of the normal distribution.
        for (x, exact) in
            [(0.0, 0.0), (1.0, 0.841_345), (-1.0, -0.158_655), (2.0, 1.954_5), (-3.0, -0.004_05)]
        {
            assert!((Gelu.of(x) - exact).abs() < 5e-4, "{x}");
        }
        assert!(Relu.of(f32::NAN).is_nan() && Gelu.of(f32::NAN).is_nan());
        assert_eq!((Relu.of(-2.0), Relu.of(2.0), None.of(-2.0)), (0.0, 2.0, -2.0));
    }
}
