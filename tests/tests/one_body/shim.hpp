// What CUDA has beyond C++, for kernels that a compiler for the host translates. Each arithmetic intrinsic is a call, so that the
// compiler cannot fuse two of them, as none of CUDA's is fused; it may fuse plain operators, as NVRTC does.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <vector>

#define __global__
#define __device__
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define STREAMFLOW_CALL static __attribute__((noinline, unused))

struct Dim { unsigned int x, y, z; };
// One thread, unless a program sets others.
static Dim blockIdx = {0, 0, 0}, threadIdx = {0, 0, 0}, blockDim = {1, 1, 1}, gridDim = {1, 1, 1};

STREAMFLOW_CALL float __fadd_rn(float a, float b) { return a + b; }
STREAMFLOW_CALL float __fsub_rn(float a, float b) { return a - b; }
STREAMFLOW_CALL float __fmul_rn(float a, float b) { return a * b; }
STREAMFLOW_CALL float __fdiv_rn(float a, float b) { return a / b; }
STREAMFLOW_CALL float __fsqrt_rn(float a) { return sqrtf(a); }
STREAMFLOW_CALL float __fmaf_rn(float a, float b, float c) { return fmaf(a, b, c); }
STREAMFLOW_CALL double __dadd_rn(double a, double b) { return a + b; }
STREAMFLOW_CALL double __dsub_rn(double a, double b) { return a - b; }
STREAMFLOW_CALL double __dmul_rn(double a, double b) { return a * b; }
STREAMFLOW_CALL double __ddiv_rn(double a, double b) { return a / b; }
STREAMFLOW_CALL double __dsqrt_rn(double a) { return sqrt(a); }
STREAMFLOW_CALL double __fma_rn(double a, double b, double c) { return fma(a, b, c); }

template <class To, class From> static To same_bits(From from) {
    To to;
    memcpy(&to, &from, sizeof(to));
    return to;
}
static inline float __uint_as_float(unsigned int bits) { return same_bits<float>(bits); }
static inline unsigned int __float_as_uint(float value) { return same_bits<unsigned int>(value); }
static inline double __longlong_as_double(long long bits) { return same_bits<double>(bits); }
static inline long long __double_as_longlong(double value) { return same_bits<long long>(value); }
static inline unsigned int __umulhi(unsigned int a, unsigned int b) { return (unsigned int)((unsigned long long)a * b >> 32); }
static inline int __popcll(unsigned long long bits) { return __builtin_popcountll(bits); }
static inline int __clzll(long long bits) { return bits == 0 ? 64 : __builtin_clzll((unsigned long long)bits); }
static inline int __ffsll(long long bits) { return __builtin_ffsll(bits); }
static inline void __threadfence_system() {}
static inline unsigned int atomicCAS(unsigned int* at, unsigned int expected, unsigned int value) {
    unsigned int old = *at;
    if (old == expected) *at = value;
    return old;
}

template <class T> static std::vector<T> taken(unsigned long long count) {
    std::vector<T> values(count);
    if (fread(values.data(), sizeof(T), count, stdin) != count) return {};
    return values;
}
template <class T> static void give(const T* values, unsigned long long count) {
    fwrite(values, sizeof(T), count, stdout);
    fflush(stdout);
}
