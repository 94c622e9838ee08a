//  The two-byte float. NVRTC lacks the type: its header is only in the CUDA toolkit.
//
// Arithmetic goes through float and is rounded once: for + - * / of two halves that is the correctly
// rounded result, because float has more than twice the digits. Mixed with another type, the result
//  has the other type's precision, at least float. Comparisons and math functions (`expf(x)`) use
//  the conversion to float.
struct half {
    unsigned short bits;

    //  The constructor is defaulted, without code, so that `__shared__ half tile[32]` is possible.
    half() = default;
    __device__ half(float value) { asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(value)); }
    __device__ half(double value) { asm("cvt.rn.f16.f64 %0, %1;" : "=h"(bits) : "d"(value)); }
    __device__ half(int value) : half((float)value) {}
    __device__ half(unsigned int value) : half((float)value) {}
    __device__ half(long value) : half((float)value) {}
    __device__ half(unsigned long value) : half((float)value) {}
    __device__ half(long long value) : half((float)value) {}
    __device__ half(unsigned long long value) : half((float)value) {}

    __device__ operator float() const {
        float value;
        asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(bits));
        return value;
    }

    __device__ half operator+() const { return *this; }
    //  Flips only the sign bit, which is also right for zeros and NaN.
    __device__ half operator-() const {
        half result;
        result.bits = bits ^ 0x8000;
        return result;
    }
    __device__ half& operator+=(half other) { return *this = half((float)*this + (float)other); }
    __device__ half& operator-=(half other) { return *this = half((float)*this - (float)other); }
    __device__ half& operator*=(half other) { return *this = half((float)*this * (float)other); }
    __device__ half& operator/=(half other) { return *this = half((float)*this / (float)other); }
};

// One overload for each pair of types: with fewer, `x * 2.0f` would be ambiguous between a half
// and a float product.
#define STREAMFLOW_MIXED(op, type, result)                                                         \
    static __device__ __forceinline__ result operator op(half a, type b) {                         \
        return (result)(float)a op (result)b;                                                      \
    }                                                                                              \
    static __device__ __forceinline__ result operator op(type a, half b) {                         \
        return (result)a op (result)(float)b;                                                      \
    }
#define STREAMFLOW_ARITHMETIC(op)                                                                  \
    static __device__ __forceinline__ half operator op(half a, half b) {                           \
        return half((float)a op (float)b);                                                         \
    }                                                                                              \
    STREAMFLOW_MIXED(op, float, float)                                                             \
    STREAMFLOW_MIXED(op, double, double)                                                           \
    STREAMFLOW_MIXED(op, int, float)                                                               \
    STREAMFLOW_MIXED(op, unsigned int, float)                                                      \
    STREAMFLOW_MIXED(op, long, float)                                                              \
    STREAMFLOW_MIXED(op, unsigned long, float)                                                     \
    STREAMFLOW_MIXED(op, long long, float)                                                         \
    STREAMFLOW_MIXED(op, unsigned long long, float)
STREAMFLOW_ARITHMETIC(+)
STREAMFLOW_ARITHMETIC(-)
STREAMFLOW_ARITHMETIC(*)
STREAMFLOW_ARITHMETIC(/)
#undef STREAMFLOW_ARITHMETIC
#undef STREAMFLOW_MIXED
