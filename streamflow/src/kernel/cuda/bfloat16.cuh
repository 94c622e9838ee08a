//  A float of two bytes: the upper half of a four-byte float. NVRTC lacks the type: its header is only in the CUDA toolkit.
//
// Arithmetic goes through float and is rounded once: for + - * / of two such numbers that is the correctly rounded
// result, because float has more than twice the digits. Mixed with another type, the result has the other type's
//  precision, at least float. Comparisons and math functions (`expf(x)`) use the conversion to float.
struct nv_bfloat16 {
    unsigned short bits;

    //  The constructor is defaulted, without code, so that `__shared__ nv_bfloat16 tile[32]` is possible.
    nv_bfloat16() = default;
    //  Rounds to the nearest, and ties to even, by integer arithmetic: the conversion instruction begins with sm_80, and it
    //  turns every NaN into the same one.
    __device__ nv_bfloat16(float value) {
        unsigned int word = __float_as_uint(value);
        bool is_nan = (word & 0x7fffffffu) > 0x7f800000u;
        // A NaN keeps its sign and its upper digits, of which one must be set.
        word = is_nan ? word | 0x400000u : word + 0x7fffu + (word >> 16 & 1u);
        bits = (unsigned short)(word >> 16);
    }
    //  Converts to a float first, with the last digit set if digits were lost: so the value is not rounded twice.
    __device__ nv_bfloat16(double value) {
        float lower = __double2float_rz(value);
        unsigned int word = __float_as_uint(lower);
        if ((double)lower != value && value == value) word |= 1u;
        *this = nv_bfloat16(__uint_as_float(word));
    }
    __device__ nv_bfloat16(int value) : nv_bfloat16((float)value) {}
    __device__ nv_bfloat16(unsigned int value) : nv_bfloat16((float)value) {}
    __device__ nv_bfloat16(long value) : nv_bfloat16((float)value) {}
    __device__ nv_bfloat16(unsigned long value) : nv_bfloat16((float)value) {}
    __device__ nv_bfloat16(long long value) : nv_bfloat16((float)value) {}
    __device__ nv_bfloat16(unsigned long long value) : nv_bfloat16((float)value) {}

    __device__ operator float() const { return __uint_as_float((unsigned int)bits << 16); }

    __device__ nv_bfloat16 operator+() const { return *this; }
    //  Flips only the sign bit, which is also right for zeros and NaN.
    __device__ nv_bfloat16 operator-() const {
        nv_bfloat16 result;
        result.bits = bits ^ 0x8000;
        return result;
    }
#define STREAMFLOW_ASSIGN(op)                                                                      \
    __device__ nv_bfloat16& operator op##=(nv_bfloat16 other) {                                    \
        return *this = nv_bfloat16((float)*this op (float)other);                                  \
    }
    STREAMFLOW_ASSIGN(+)
    STREAMFLOW_ASSIGN(-)
    STREAMFLOW_ASSIGN(*)
    STREAMFLOW_ASSIGN(/)
#undef STREAMFLOW_ASSIGN
};

// One overload for each pair of types: with fewer, `x * 2.0f` would be ambiguous.
#define STREAMFLOW_MIXED(op, type, result)                                                         \
    static __device__ __forceinline__ result operator op(nv_bfloat16 a, type b) {                  \
        return (result)(float)a op (result)b;                                                      \
    }                                                                                              \
    static __device__ __forceinline__ result operator op(type a, nv_bfloat16 b) {                  \
        return (result)a op (result)(float)b;                                                      \
    }
#define STREAMFLOW_ARITHMETIC(op)                                                                  \
    static __device__ __forceinline__ nv_bfloat16 operator op(nv_bfloat16 a, nv_bfloat16 b) {      \
        return nv_bfloat16((float)a op (float)b);                                                  \
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
