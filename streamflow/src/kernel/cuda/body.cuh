// The operators and methods of kernels with one body: `kernel/body/ops.rs` has each one under the same name. A template has one
// type for all operands, so that nothing is promoted.

// rustc warns of a name or a value that a body does not use (177, 550). The compiler would also warn of the names that macros make,
// and of templates: loops that some types never enter (128), comparisons of unsigned numbers with 0 (186).
#ifdef __NVCC_DIAG_PRAGMA_SUPPORT__
#pragma nv_diag_suppress 128, 177, 186, 550
#endif

namespace sf {

#define STREAMFLOW_BODY static __device__ __forceinline__

STREAMFLOW_BODY float f32_of(unsigned long long bits) { return __uint_as_float((unsigned int)bits); }
STREAMFLOW_BODY double f64_of(unsigned long long bits) { return __longlong_as_double((long long)bits); }

/// The unsigned type in which an integer is computed, of 32 bits at least, where nothing overflows.
template <class T> struct Wide { typedef unsigned int Type; };
template <> struct Wide<long long> { typedef unsigned long long Type; };
template <> struct Wide<unsigned long long> { typedef unsigned long long Type; };
/// The bits of a type.
template <class T> struct Width { static const unsigned int bits = 8 * sizeof(T); };
template <class T> struct IsSigned { static const bool value = T(-1) < T(0); };

template <class T> STREAMFLOW_BODY T add(T a, T b) { typedef typename Wide<T>::Type U; return (T)((U)a + (U)b); }
template <class T> STREAMFLOW_BODY T sub(T a, T b) { typedef typename Wide<T>::Type U; return (T)((U)a - (U)b); }
template <class T> STREAMFLOW_BODY T mul(T a, T b) { typedef typename Wide<T>::Type U; return (T)((U)a * (U)b); }
template <class T> STREAMFLOW_BODY T neg(T a) { typedef typename Wide<T>::Type U; return (T)(0 - (U)a); }
/// An array of a body.
template <class T, unsigned long long N> struct Array { T at[N]; };
template <class T, unsigned long long N> STREAMFLOW_BODY unsigned long long len(const Array<T, N>&) { return N; }
/// An array of one value.
template <class A, class T> STREAMFLOW_BODY A filled(T value) {
    A array;
    for (unsigned long long i = 0; i < sizeof(array.at) / sizeof(array.at[0]); ++i) array.at[i] = value;
    return array;
}
/// An argument that is a table. Its number is that among the kernel's arguments.
template <class T> struct Table {
    const T* __restrict__ at;
    unsigned long long length;
    unsigned int argument;
};
template <class T> STREAMFLOW_BODY Table<T> table(const T* at, unsigned long long length, unsigned int argument) {
    return {at, length, argument};
}
template <class T> STREAMFLOW_BODY unsigned long long len(const Table<T>& table) { return table.length; }

/// A part of an argument that is an array or a struct.
struct alignas(16) Chunk { unsigned long long half[2]; };
/// An argument, from its parameters.
template <class T, int N> STREAMFLOW_BODY T passed(const Chunk (&chunks)[N]) {
    T value;
    memcpy(&value, chunks, sizeof(T));
    return value;
}
template <class T> STREAMFLOW_BODY T passed(T value) { return value; }

#ifdef STREAMFLOW_REPORTS
/// The report of a launch, and a place in the body.
struct Fault {
    streamflow::Report* report;
    unsigned long long kernel;
    long long line;

    __device__ __noinline__ void division() const { report->keep(0xffffffffu, kernel, 0, 0, line); }
    __device__ __noinline__ void index(unsigned int argument, unsigned long long at, unsigned long long length) const {
        report->keep(argument, kernel, (long long)at, length, line);
    }
};
struct Faults {
    streamflow::Report* report;
    unsigned long long kernel;

    __device__ __forceinline__ Fault at(long long line) const { return {report, kernel, line}; }
};

/// Whether an index is one of an element. One out of range is reported.
template <class T, unsigned long long N>
STREAMFLOW_BODY bool within(const Array<T, N>&, unsigned long long index, const Fault& fault) {
    if (index < N) return true;
    fault.index(0xfffffffeu, index, N);
    return false;
}
template <class T> STREAMFLOW_BODY bool within(const Table<T>& table, unsigned long long index, const Fault& fault) {
    if (index < table.length) return true;
    fault.index(table.argument, index, table.length);
    return false;
}
/// The element at an index, or 0.
template <class T, unsigned long long N>
STREAMFLOW_BODY T element(const Array<T, N>& array, unsigned long long index, const Fault& fault) {
    if (within(array, index, fault)) return array.at[index];
    return T();
}
template <class T> STREAMFLOW_BODY T element(const Table<T>& table, unsigned long long index, const Fault& fault) {
    if (within(table, index, fault)) return table.at[index];
    return T();
}

/// Without the two divisions that C++ leaves undefined.
template <class T> STREAMFLOW_BODY T div(T a, T b, const Fault& fault) {
    if (b == T(0)) { fault.division(); return T(0); }
    if (IsSigned<T>::value && b == T(-1)) return neg(a);
    return (T)(a / b);
}
template <class T> STREAMFLOW_BODY T rem(T a, T b, const Fault& fault) {
    if (b == T(0)) { fault.division(); return T(0); }
    if (IsSigned<T>::value && b == T(-1)) return T(0);
    return (T)(a % b);
}
template <class T> STREAMFLOW_BODY T rem_euclid(T a, T b, const Fault& fault) {
    T rest = rem(a, b, fault);
    return rest < T(0) ? (b < T(0) ? sub(rest, b) : add(rest, b)) : rest;
}
STREAMFLOW_BODY float div(float a, float b, const Fault&) { return __fdiv_rn(a, b); }
STREAMFLOW_BODY double div(double a, double b, const Fault&) { return __ddiv_rn(a, b); }
STREAMFLOW_BODY float rem(float a, float b, const Fault&) { return fmodf(a, b); }
STREAMFLOW_BODY double rem(double a, double b, const Fault&) { return fmod(a, b); }
STREAMFLOW_BODY float rem_euclid(float a, float b, const Fault&) {
    float rest = fmodf(a, b);
    return rest < 0.0f ? __fadd_rn(rest, fabsf(b)) : rest;
}
STREAMFLOW_BODY double rem_euclid(double a, double b, const Fault&) {
    double rest = fmod(a, b);
    return rest < 0.0 ? __dadd_rn(rest, fabs(b)) : rest;
}
#endif

// Intrinsics, which the compiler never fuses.
STREAMFLOW_BODY float add(float a, float b) { return __fadd_rn(a, b); }
STREAMFLOW_BODY float sub(float a, float b) { return __fsub_rn(a, b); }
STREAMFLOW_BODY float mul(float a, float b) { return __fmul_rn(a, b); }
STREAMFLOW_BODY float div(float a, float b) { return __fdiv_rn(a, b); }
STREAMFLOW_BODY float neg(float a) { return -a; }
STREAMFLOW_BODY double add(double a, double b) { return __dadd_rn(a, b); }
STREAMFLOW_BODY double sub(double a, double b) { return __dsub_rn(a, b); }
STREAMFLOW_BODY double mul(double a, double b) { return __dmul_rn(a, b); }
STREAMFLOW_BODY double div(double a, double b) { return __ddiv_rn(a, b); }
STREAMFLOW_BODY double neg(double a) { return -a; }

template <class T> STREAMFLOW_BODY T not_(T a) { return (T)~a; }
STREAMFLOW_BODY bool not_(bool a) { return !a; }
template <class T> STREAMFLOW_BODY T bit_and(T a, T b) { return (T)(a & b); }
template <class T> STREAMFLOW_BODY T bit_or(T a, T b) { return (T)(a | b); }
template <class T> STREAMFLOW_BODY T bit_xor(T a, T b) { return (T)(a ^ b); }
template <class T, class A> STREAMFLOW_BODY T shl(T a, A by) {
    typedef typename Wide<T>::Type U;
    return (T)((U)a << ((unsigned int)by & (Width<T>::bits - 1)));
}
template <class T, class A> STREAMFLOW_BODY T shr(T a, A by) {
    return (T)(a >> ((unsigned int)by & (Width<T>::bits - 1)));
}

template <class T> STREAMFLOW_BODY bool eq(T a, T b) { return a == b; }
template <class T> STREAMFLOW_BODY bool ne(T a, T b) { return a != b; }
template <class T> STREAMFLOW_BODY bool lt(T a, T b) { return a < b; }
template <class T> STREAMFLOW_BODY bool le(T a, T b) { return a <= b; }
template <class T> STREAMFLOW_BODY bool gt(T a, T b) { return a > b; }
template <class T> STREAMFLOW_BODY bool ge(T a, T b) { return a >= b; }

template <class T> STREAMFLOW_BODY T abs(T a) { return a < T(0) ? neg(a) : a; }
STREAMFLOW_BODY float abs(float a) { return fabsf(a); }
STREAMFLOW_BODY double abs(double a) { return fabs(a); }
template <class T> STREAMFLOW_BODY T signum(T a) { return a < T(0) ? T(-1) : a > T(0) ? T(1) : T(0); }
STREAMFLOW_BODY float signum(float a) { return a != a ? a : copysignf(1.0f, a); }
STREAMFLOW_BODY double signum(double a) { return a != a ? a : ::copysign(1.0, a); }
template <class T> STREAMFLOW_BODY T min(T a, T b) { return b < a ? b : a; }
template <class T> STREAMFLOW_BODY T max(T a, T b) { return a < b ? b : a; }
STREAMFLOW_BODY float min(float a, float b) { return b < a || a != a ? b : a; }
STREAMFLOW_BODY float max(float a, float b) { return a < b || a != a ? b : a; }
STREAMFLOW_BODY double min(double a, double b) { return b < a || a != a ? b : a; }
STREAMFLOW_BODY double max(double a, double b) { return a < b || a != a ? b : a; }
template <class T> STREAMFLOW_BODY T clamp(T a, T low, T high) {
    a = a < low ? low : a;
    return a > high ? high : a;
}

// ---- integers

template <class T> STREAMFLOW_BODY T wrapping_add(T a, T b) { return add(a, b); }
template <class T> STREAMFLOW_BODY T wrapping_sub(T a, T b) { return sub(a, b); }
template <class T> STREAMFLOW_BODY T wrapping_mul(T a, T b) { return mul(a, b); }
template <class T> struct Limits {
    static const T low = IsSigned<T>::value ? (T)(1ull << (Width<T>::bits - 1)) : T(0);
    static const T high = (T)~low;
};
template <class T> STREAMFLOW_BODY T saturating_add(T a, T b) {
    T sum = add(a, b);
    if (b < T(0)) return sum > a ? (T)Limits<T>::low : sum;
    return sum < a ? (T)Limits<T>::high : sum;
}
template <class T> STREAMFLOW_BODY T saturating_sub(T a, T b) {
    T rest = sub(a, b);
    if (b < T(0)) return rest < a ? (T)Limits<T>::high : rest;
    return rest > a ? (T)Limits<T>::low : rest;
}
template <class T> STREAMFLOW_BODY T pow(T a, unsigned int exponent) {
    T result = T(1);
    for (; exponent > 0; exponent >>= 1) {
        if (exponent & 1) result = mul(result, a);
        a = mul(a, a);
    }
    return result;
}
/// The bits of a number, without those that a sign adds.
template <class T> STREAMFLOW_BODY unsigned long long bits_of(T a) {
    return Width<T>::bits == 64 ? (unsigned long long)a : (unsigned long long)a & ((1ull << (Width<T>::bits & 63)) - 1);
}
template <class T> STREAMFLOW_BODY unsigned int count_ones(T a) { return (unsigned int)__popcll(bits_of(a)); }
template <class T> STREAMFLOW_BODY unsigned int leading_zeros(T a) {
    return (unsigned int)__clzll((long long)bits_of(a)) - (64 - Width<T>::bits);
}
template <class T> STREAMFLOW_BODY unsigned int trailing_zeros(T a) {
    unsigned long long bits = bits_of(a);
    return bits == 0 ? Width<T>::bits : (unsigned int)__ffsll((long long)bits) - 1;
}

// ---- floats

#define STREAMFLOW_UNARY(name, of_float, of_double)                                   \
    STREAMFLOW_BODY float name(float a) { return of_float(a); }                       \
    STREAMFLOW_BODY double name(double a) { return of_double(a); }
#define STREAMFLOW_BINARY(name, of_float, of_double)                                  \
    STREAMFLOW_BODY float name(float a, float b) { return of_float(a, b); }           \
    STREAMFLOW_BODY double name(double a, double b) { return of_double(a, b); }
STREAMFLOW_UNARY(sqrt, __fsqrt_rn, __dsqrt_rn)
STREAMFLOW_UNARY(floor, floorf, ::floor)
STREAMFLOW_UNARY(ceil, ceilf, ::ceil)
STREAMFLOW_UNARY(round, roundf, ::round)
STREAMFLOW_UNARY(trunc, truncf, ::trunc)
STREAMFLOW_UNARY(acos, acosf, ::acos)
STREAMFLOW_UNARY(asin, asinf, ::asin)
STREAMFLOW_UNARY(atan, atanf, ::atan)
STREAMFLOW_UNARY(cos, cosf, ::cos)
STREAMFLOW_UNARY(cosh, coshf, ::cosh)
STREAMFLOW_UNARY(exp, expf, ::exp)
STREAMFLOW_UNARY(exp2, exp2f, ::exp2)
STREAMFLOW_UNARY(ln, logf, ::log)
STREAMFLOW_UNARY(log10, log10f, ::log10)
STREAMFLOW_UNARY(log2, log2f, ::log2)
STREAMFLOW_UNARY(sin, sinf, ::sin)
STREAMFLOW_UNARY(sinh, sinhf, ::sinh)
STREAMFLOW_UNARY(tan, tanf, ::tan)
STREAMFLOW_UNARY(tanh, tanhf, ::tanh)
STREAMFLOW_BINARY(atan2, atan2f, ::atan2)
STREAMFLOW_BINARY(copysign, copysignf, ::copysign)
STREAMFLOW_BINARY(hypot, hypotf, ::hypot)
STREAMFLOW_BINARY(powf, ::powf, ::pow)
#undef STREAMFLOW_UNARY
#undef STREAMFLOW_BINARY
STREAMFLOW_BODY float mul_add(float a, float b, float c) { return __fmaf_rn(a, b, c); }
STREAMFLOW_BODY double mul_add(double a, double b, double c) { return __fma_rn(a, b, c); }
STREAMFLOW_BODY unsigned int to_bits(float a) { return __float_as_uint(a); }
STREAMFLOW_BODY unsigned long long to_bits(double a) { return (unsigned long long)__double_as_longlong(a); }
template <class T> STREAMFLOW_BODY bool is_nan(T a) { return a != a; }
template <class T> STREAMFLOW_BODY bool is_finite(T a) { return sub(a, a) == T(0); }
template <class T> STREAMFLOW_BODY bool is_infinite(T a) { return a == a && !is_finite(a); }
template <class T> STREAMFLOW_BODY T recip(T a) { return div(T(1), a); }
template <class T> STREAMFLOW_BODY T fract(T a) { return sub(a, trunc(a)); }
template <class T> STREAMFLOW_BODY T powi(T a, int exponent) {
    unsigned int rest = exponent < 0 ? 0u - (unsigned int)exponent : (unsigned int)exponent;
    T result = T(1);
    for (; rest > 0; rest >>= 1) {
        if (rest & 1) result = mul(result, a);
        a = mul(a, a);
    }
    return exponent < 0 ? div(T(1), result) : result;
}
// The factors of Rust: one is written out for `float`, the others are divisions of two constants.
STREAMFLOW_BODY float to_degrees(float a) { return mul(a, 57.2957795130823208767981548141051703f); }
STREAMFLOW_BODY double to_degrees(double a) { return mul(a, 180.0 / 3.14159265358979311600); }
STREAMFLOW_BODY float to_radians(float a) { return mul(a, 3.14159274101257324f / 180.0f); }
STREAMFLOW_BODY double to_radians(double a) { return mul(a, 3.14159265358979311600 / 180.0); }

// ---- `as`

/// From an integer or `bool`: to an integer by its lowest bits, to a float rounded to the nearest.
template <class To, class From> struct Cast { STREAMFLOW_BODY To of(From a) { return (To)a; } };
/// From a float to an integer: the nearest number of the type towards 0, and 0 for NaN.
template <class To, class From> STREAMFLOW_BODY To float_to_integer(From a) {
    if (a != a) return To(0);
    // The limits are powers of two, or one less, so that the float beyond them is exact.
    const From beyond = (From)(1ull << (Width<To>::bits - 1)) * (IsSigned<To>::value ? From(1) : From(2));
    const From below = IsSigned<To>::value ? -beyond : From(0);
    if (a >= beyond) return (To)Limits<To>::high;
    if (a <= below) return (To)Limits<To>::low;
    return (To)a;
}
template <class To> struct Cast<To, float> { STREAMFLOW_BODY To of(float a) { return float_to_integer<To>(a); } };
template <class To> struct Cast<To, double> { STREAMFLOW_BODY To of(double a) { return float_to_integer<To>(a); } };
template <> struct Cast<float, float> { STREAMFLOW_BODY float of(float a) { return a; } };
template <> struct Cast<double, float> { STREAMFLOW_BODY double of(float a) { return (double)a; } };
template <> struct Cast<float, double> { STREAMFLOW_BODY float of(double a) { return (float)a; } };
template <> struct Cast<double, double> { STREAMFLOW_BODY double of(double a) { return a; } };
template <class To, class From> STREAMFLOW_BODY To cast(From a) { return Cast<To, From>::of(a); }

template <class T> STREAMFLOW_BODY T linspace(T start, T stop, unsigned long long index, unsigned long long count) {
    if (count > 1 && index == count - 1) return stop;
    return add(start, mul(cast<T>(index), div(sub(stop, start), cast<T>((count < 2 ? 2ull : count) - 1))));
}

// ---- places

/// A number in place of memory: each element is this number.
template <class T> struct Same {
    T value;
    __device__ __forceinline__ const T& operator[](unsigned long long) const { return value; }
};

/// The length of a dimension, with what a division by it needs. `kernel/places.rs` packs it.
struct Length {
    unsigned int value, factor, shift;
    /// The coordinate along the dimension of a number below 2^31, and in `number` that of the dimensions before it.
    __device__ __forceinline__ unsigned int take(unsigned int& number) const {
        const unsigned int quotient = (__umulhi(number, factor) + number) >> shift;
        const unsigned int coordinate = number - quotient * value;
        number = quotient;
        return coordinate;
    }
};
STREAMFLOW_BODY Length length(unsigned long long packed) {
    const unsigned int value = (unsigned int)packed;
    return {value, (unsigned int)(packed >> 32), 64u - (unsigned int)__clzll((long long)value - 1)};
}

#undef STREAMFLOW_BODY

}  // namespace sf
