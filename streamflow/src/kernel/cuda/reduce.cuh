// The tree of a reduction: `kernel/reduce/host.rs` has the same one, and `kernel/reduce/mod.rs` describes it. A reduction is a
// type `Op` with the types `In`, `State` and `Out`, and the functions `identity`, `of`, `combine` and `finish`.
namespace sf {

#define STREAMFLOW_BODY static __device__ __forceinline__
typedef unsigned long long Number;

/// The numbers of a launch, as `kernel/reduce/plan.rs` makes them. Shapes are outermost first.
struct Reduced {
    Number stride[4];  // between the elements of a result
    Number shape[4];   // of the elements of a result
    Number to[4];      // strides of the results
    Number kept[4];    // the shape of the results
    Number step[4];    // strides of the results' first elements
    Number chunk;      // the elements of a part, except for columns
    Number parts;      // the parts of a result
    Number count;      // the elements of a result, over both passes
    Number form;

    __device__ __forceinline__ Number length() const { return shape[0] * shape[1] * shape[2] * shape[3]; }
    __device__ __forceinline__ Number rows() const { return kept[0] * kept[1] * kept[2] * kept[3]; }
    __device__ __forceinline__ bool is_line() const { return shape[0] * shape[1] * shape[2] == 1; }
    /// Where an element is, from the first of its result; where the first element of a result is; and where a result is.
    __device__ __forceinline__ Number place(Number i) const {
        return is_line() ? i * stride[3] : offset(i, shape[1], shape[2], shape[3], stride[0], stride[1], stride[2], stride[3]);
    }
    __device__ __forceinline__ Number first(Number row) const {
        return offset(row, kept[1], kept[2], kept[3], step[0], step[1], step[2], step[3]);
    }
    __device__ __forceinline__ Number result(Number row) const {
        return offset(row, kept[1], kept[2], kept[3], to[0], to[1], to[2], to[3]);
    }
    /// The place of a number, in row-major order, in a shape with these last three lengths. Not inline, for the sake of the
    /// compiler's time.
    static __device__ __noinline__ Number offset(Number i, Number b, Number c, Number d, Number s0, Number s1, Number s2, Number s3) {
        const Number x = split(i, d), y = split(i, c), z = split(i, b);
        return x * s3 + y * s2 + z * s1 + i * s0;
    }
    /// The remainder of a division, whose quotient replaces `i`.
    static __device__ __forceinline__ Number split(Number& i, Number by) {
        if (by == 1) return 0;
        const Number from = i;
        i = divide(from, by);
        return from - i * by;
    }
    /// A division, by 32 bits where they are enough, since that is faster.
    static __device__ __noinline__ Number divide(Number a, Number b) {
        return (a | b) >> 32 == 0 ? (Number)((unsigned int)a / (unsigned int)b) : a / b;
    }
};

/// Neighbours that one lane has, loaded as one word where that word is aligned.
template <class T> struct alignas(4 * sizeof(T) < 16 ? 4 * sizeof(T) : 16) Four { T at[4]; };

template <class T> union Words {
    T value;
    unsigned int word[(sizeof(T) + 3) / 4];
    __device__ __forceinline__ Words() {}
};
/// The value of the lane that is `by` lanes further in the warp.
template <class T> STREAMFLOW_BODY T further(T value, unsigned int by) {
    Words<T> own, other;
    own.value = value;
    for (unsigned int at = 0; at < sizeof(own.word) / sizeof(own.word[0]); ++at) {
        other.word[at] = __shfl_down_sync(0xffffffffu, own.word[at], by);
    }
    return other.value;
}

/// The part of a result that one lane combines: the elements `first + by * j`, for `j` from `at` to `end`, four of each `step`.
struct Lane {
    Number first, by, at, end, step;
};

/// The value of one lane, for elements or for the values of parts.
template <class Op>
STREAMFLOW_BODY typename Op::State value_of(const Op& op, const Reduced& of, const void* in, Number row, Lane own, bool is_second) {
    typedef typename Op::State State;
    typedef typename Op::In In;
    typedef Four<In> Word;
    const In* const elements = (const In*)in + row;
    const State* const parts = (const State*)in + row;
    State sum[4] = {op.identity(), op.identity(), op.identity(), op.identity()};
    if (!is_second && own.by == 1 && of.is_line() && of.stride[3] == 1 && (Number)elements % alignof(Word) == 0) {
        // Four words at once, so that their loads overlap.
#pragma unroll 1
        for (int whole; own.at + 4 <= own.end; own.at += whole * own.step) {
            Word words[4];
            whole = 0;
#pragma unroll
            for (int k = 0; k < 4; ++k) {
                if (own.at + k * own.step + 4 > own.end) continue;
                words[k] = *(const Word*)(elements + own.at + k * own.step);
                ++whole;
            }
#pragma unroll
            for (int k = 0; k < 4; ++k) {
                if (k >= whole) continue;
#pragma unroll
                for (int c = 0; c < 4; ++c) sum[c] = op.combine(sum[c], op.of(words[k].at[c], own.at + k * own.step + c));
            }
        }
    }
#pragma unroll 1
    for (; own.at < own.end; own.at += own.step) {
        State values[4];
#pragma unroll
        for (int c = 0; c < 4; ++c) {
            if (own.at + c >= own.end) continue;
            const Number i = own.first + (own.at + c) * own.by;
            values[c] = is_second ? parts[i] : op.of(elements[of.place(i)], i);
        }
#pragma unroll
        for (int c = 0; c < 4; ++c) {
            if (own.at + c < own.end) sum[c] = op.combine(sum[c], values[c]);
        }
    }
    return op.combine(op.combine(sum[0], sum[1]), op.combine(sum[2], sum[3]));
}

/// The value of `width` lanes of a warp, in its first lane. Each lane of the warp calls this.
template <class Op>
STREAMFLOW_BODY typename Op::State lanes_of(const Op& op, typename Op::State value, unsigned int lane, unsigned int width) {
#pragma unroll 1
    for (unsigned int by = width / 2; by > 0; by /= 2) {
        const typename Op::State other = further(value, by);
        if (lane < by) value = op.combine(value, other);
    }
    return value;
}

/// A block of 256 threads, for one part of a result, for the results of 8 warps or of 256 threads, or for 256 parts of columns.
template <class Op> STREAMFLOW_BODY void reduce(const Op& op, const Reduced& of, const void* in, void* out) {
    typedef typename Op::State State;
    const bool is_second = of.form >= 4;
    const unsigned int form = (unsigned int)of.form % 4;
    const unsigned int thread = threadIdx.x, lane = thread % 32, warp = thread / 32;
    const Number rows = of.rows(), length = of.length();
    Number row, part = 0;
    Lane own = {0, 1, 0, length, 4};
    if (form == 0) {
        row = blockIdx.x * 256ull + thread;
    } else if (form == 1) {
        row = blockIdx.x * 8ull + warp;
        own.at = 4 * lane;
        own.step = 4 * 32;
    } else if (form == 2) {
        row = Reduced::divide(blockIdx.x, of.parts);
        part = blockIdx.x - row * of.parts;
        const Number begin = part * of.chunk;
        own.at = begin + 4 * thread;
        own.end = length - begin < of.chunk ? length : begin + of.chunk;
        own.step = 4 * 256;
    } else {
        const Number number = blockIdx.x * 256ull + thread;
        part = Reduced::divide(number, rows);
        row = number - part * rows;
        if (part >= of.parts) return;
        own.first = part;
        own.by = of.parts;
        own.end = Reduced::divide(length - part + of.parts - 1, of.parts);
    }
    if (row >= rows) return;
    State value = value_of(op, of, in, of.first(row), own, is_second);
    if (form == 1 || form == 2) value = lanes_of(op, value, lane, 32);
    if (form == 2) {
        __shared__ State warps[8];
        if (lane == 0) warps[warp] = value;
        __syncthreads();
        if (warp > 0) return;
        if (lane < 8) value = warps[lane];
        value = lanes_of(op, value, lane, 8);
    }
    if (lane > 0 && (form == 1 || form == 2)) return;
    if (of.parts == 1) {
        ((typename Op::Out*)out)[of.result(row)] = op.finish(value, of.count);
    } else {
        ((State*)out)[row * of.parts + part] = value;
    }
}

#undef STREAMFLOW_BODY

}  // namespace sf
