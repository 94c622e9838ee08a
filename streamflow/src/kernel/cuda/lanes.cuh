// Helpers of reductions and scans: places in memory, and the values of other lanes.
namespace sf {

#define STREAMFLOW_BODY static __device__ __forceinline__
typedef unsigned long long Number;

/// A division, by 32 bits where they are enough, since that is faster. Not inline, as `offset`.
static __device__ __noinline__ Number divide(Number a, Number b) {
    return (a | b) >> 32 == 0 ? (Number)((unsigned int)a / (unsigned int)b) : a / b;
}
/// The remainder of a division, whose quotient replaces `i`.
STREAMFLOW_BODY Number split(Number& i, Number by) {
    if (by == 1) return 0;
    const Number from = i;
    i = divide(from, by);
    return from - i * by;
}
/// The place of a number, in row-major order, in a shape with these last three lengths. Not inline, for the sake of the compiler's
/// time.
static __device__ __noinline__ Number offset(Number i, Number b, Number c, Number d, Number s0, Number s1, Number s2, Number s3) {
    const Number x = split(i, d), y = split(i, c), z = split(i, b);
    return x * s3 + y * s2 + z * s1 + i * s0;
}
/// The same for all lengths and strides.
STREAMFLOW_BODY Number offset(Number i, const Number (&shape)[4], const Number (&stride)[4]) {
    return offset(i, shape[1], shape[2], shape[3], stride[0], stride[1], stride[2], stride[3]);
}
/// How many elements a shape has, and whether they are in one line.
STREAMFLOW_BODY Number elements(const Number (&shape)[4]) { return shape[0] * shape[1] * shape[2] * shape[3]; }
STREAMFLOW_BODY bool is_line(const Number (&shape)[4]) { return shape[0] * shape[1] * shape[2] == 1; }

/// Neighbours that one lane has, loaded as one word where that word is aligned.
template <class T> struct alignas(4 * sizeof(T) < 16 ? 4 * sizeof(T) : 16) Four { T at[4]; };

/// The words of 32 bits that a value has.
template <class T> static __device__ constexpr unsigned int words_of() { return (sizeof(T) + 3) / 4; }
template <class T> union Words {
    T value;
    unsigned int word[words_of<T>()];
    __device__ __forceinline__ Words() {}
};
/// The value of the lane that is `by` lanes further in the warp.
template <class T> STREAMFLOW_BODY T further(T value, unsigned int by) {
    Words<T> own, other;
    own.value = value;
    for (unsigned int at = 0; at < words_of<T>(); ++at) {
        other.word[at] = __shfl_down_sync(0xffffffffu, own.word[at], by);
    }
    return other.value;
}

#undef STREAMFLOW_BODY

}  // namespace sf
