// The tree of a reduction: `kernel/reduce/host.rs` has the same one, and `kernel/reduce/mod.rs` describes it. A reduction is a
// type `Op` with the types `In`, `State` and `Out`, and the functions `identity`, `of`, `combine` and `finish`.
namespace sf {

#define STREAMFLOW_BODY static __device__ __forceinline__

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

    __device__ __forceinline__ Number length() const { return elements(shape); }
    __device__ __forceinline__ Number rows() const { return elements(kept); }
    /// Where an element is, from the first of its result; where the first element of a result is; and where a result is.
    __device__ __forceinline__ Number place(Number i) const { return is_line(shape) ? i * stride[3] : offset(i, shape, stride); }
    __device__ __forceinline__ Number first(Number row) const { return offset(row, kept, step); }
    __device__ __forceinline__ Number result(Number row) const { return offset(row, kept, to); }
};

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
    if (!is_second && own.by == 1 && is_line(of.shape) && of.stride[3] == 1 && (Number)elements % alignof(Word) == 0) {
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
        row = divide(blockIdx.x, of.parts);
        part = blockIdx.x - row * of.parts;
        const Number begin = part * of.chunk;
        own.at = begin + 4 * thread;
        own.end = length - begin < of.chunk ? length : begin + of.chunk;
        own.step = 4 * 256;
    } else {
        const Number number = blockIdx.x * 256ull + thread;
        part = divide(number, rows);
        row = number - part * rows;
        if (part >= of.parts) return;
        own.first = part;
        own.by = of.parts;
        own.end = divide(length - part + of.parts - 1, of.parts);
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
