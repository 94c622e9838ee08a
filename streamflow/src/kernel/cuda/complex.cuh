// Complex numbers, `complex<float>` and `complex<double>`, with the formulas of the crate num-complex. NVRTC has no
// header for them.
//
// They are aligned as float2 and double2, so that one instruction loads both parts.
template <class T> struct alignas(2 * sizeof(T)) complex {
    T re, im;

    //  The constructor is defaulted, without code, so that `__shared__ complex<float> tile[32]` is possible.
    complex() = default;
    __device__ complex(T re, T im = T(0)) : re(re), im(im) {}
    template <class U>
    __device__ explicit complex(const complex<U>& other) : re(T(other.re)), im(T(other.im)) {}

    __device__ complex operator+() const { return *this; }
    __device__ complex operator-() const { return complex(-re, -im); }
    __device__ complex& operator+=(const complex& other) { return *this = *this + other; }
    __device__ complex& operator-=(const complex& other) { return *this = *this - other; }
    __device__ complex& operator*=(const complex& other) { return *this = *this * other; }
    __device__ complex& operator/=(const complex& other) { return *this = *this / other; }
};

namespace streamflow {
//  Keeps C++ from deducing `T` by the real operand of an operator, which may be an `int` or a `double`.
template <class T> struct Real { typedef T Type; };

static __device__ __forceinline__ float hypotenuse(float a, float b) { return hypotf(a, b); }
static __device__ __forceinline__ double hypotenuse(double a, double b) { return hypot(a, b); }
static __device__ __forceinline__ float angle(float y, float x) { return atan2f(y, x); }
static __device__ __forceinline__ double angle(double y, double x) { return atan2(y, x); }
static __device__ __forceinline__ void turn(float a, float* s, float* c) { sincosf(a, s, c); }
static __device__ __forceinline__ void turn(double a, double* s, double* c) { sincos(a, s, c); }
static __device__ __forceinline__ float exponential(float x) { return expf(x); }
static __device__ __forceinline__ double exponential(double x) { return exp(x); }
}  // namespace streamflow

#define STREAMFLOW_COMPLEX template <class T> static __device__ __forceinline__
#define STREAMFLOW_REAL typename streamflow::Real<T>::Type

STREAMFLOW_COMPLEX complex<T> operator+(const complex<T>& a, const complex<T>& b) {
    return complex<T>(a.re + b.re, a.im + b.im);
}
STREAMFLOW_COMPLEX complex<T> operator-(const complex<T>& a, const complex<T>& b) {
    return complex<T>(a.re - b.re, a.im - b.im);
}
STREAMFLOW_COMPLEX complex<T> operator*(const complex<T>& a, const complex<T>& b) {
    return complex<T>(a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re);
}
STREAMFLOW_COMPLEX complex<T> operator/(const complex<T>& a, const complex<T>& b) {
    T size = b.re * b.re + b.im * b.im;
    return complex<T>((a.re * b.re + a.im * b.im) / size, (a.im * b.re - a.re * b.im) / size);
}
STREAMFLOW_COMPLEX complex<T> operator+(const complex<T>& a, STREAMFLOW_REAL b) {
    return complex<T>(a.re + b, a.im);
}
STREAMFLOW_COMPLEX complex<T> operator+(STREAMFLOW_REAL a, const complex<T>& b) {
    return complex<T>(a + b.re, b.im);
}
STREAMFLOW_COMPLEX complex<T> operator-(const complex<T>& a, STREAMFLOW_REAL b) {
    return complex<T>(a.re - b, a.im);
}
STREAMFLOW_COMPLEX complex<T> operator-(STREAMFLOW_REAL a, const complex<T>& b) {
    return complex<T>(a - b.re, -b.im);
}
STREAMFLOW_COMPLEX complex<T> operator*(const complex<T>& a, STREAMFLOW_REAL b) {
    return complex<T>(a.re * b, a.im * b);
}
STREAMFLOW_COMPLEX complex<T> operator*(STREAMFLOW_REAL a, const complex<T>& b) {
    return complex<T>(a * b.re, a * b.im);
}
STREAMFLOW_COMPLEX complex<T> operator/(const complex<T>& a, STREAMFLOW_REAL b) {
    return complex<T>(a.re / b, a.im / b);
}
STREAMFLOW_COMPLEX complex<T> operator/(STREAMFLOW_REAL a, const complex<T>& b) {
    T size = b.re * b.re + b.im * b.im;
    return complex<T>(a * b.re / size, -a * b.im / size);
}
STREAMFLOW_COMPLEX bool operator==(const complex<T>& a, const complex<T>& b) {
    return a.re == b.re && a.im == b.im;
}
STREAMFLOW_COMPLEX bool operator!=(const complex<T>& a, const complex<T>& b) { return !(a == b); }

STREAMFLOW_COMPLEX T real(const complex<T>& z) { return z.re; }
STREAMFLOW_COMPLEX T imag(const complex<T>& z) { return z.im; }
STREAMFLOW_COMPLEX complex<T> conj(const complex<T>& z) { return complex<T>(z.re, -z.im); }
/// The square of the magnitude. C++ calls it `norm`; num-complex calls the magnitude `norm`.
STREAMFLOW_COMPLEX T norm_sqr(const complex<T>& z) { return z.re * z.re + z.im * z.im; }
STREAMFLOW_COMPLEX T abs(const complex<T>& z) { return streamflow::hypotenuse(z.re, z.im); }
STREAMFLOW_COMPLEX T arg(const complex<T>& z) { return streamflow::angle(z.im, z.re); }
STREAMFLOW_COMPLEX complex<T> polar(T size, STREAMFLOW_REAL angle) {
    T sine, cosine;
    streamflow::turn(angle, &sine, &cosine);
    return complex<T>(size * cosine, size * sine);
}
STREAMFLOW_COMPLEX complex<T> exp(const complex<T>& z) {
    return polar(streamflow::exponential(z.re), z.im);
}
#undef STREAMFLOW_REAL
#undef STREAMFLOW_COMPLEX
