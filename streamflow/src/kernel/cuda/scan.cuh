// The tree of a scan: `kernel/scan/host.rs` has the same one, and `kernel/scan/mod.rs` describes it. `Op` is as for a reduction.
namespace sf {

#define STREAMFLOW_BODY static __device__ __forceinline__

/// The numbers of a launch, as `kernel/scan/plan.rs` makes them. Shapes are outermost first.
struct Scanned {
    Number stride[4];  // between the elements of a row
    Number shape[4];   // of the elements of a row
    Number to[4];      // between the results of a row
    Number kept[4];    // the shape of the rows
    Number step[4];    // strides of the rows' first elements
    Number first[4];   // strides of the rows' first results
    Number tiles;      // the tiles of a row
    Number form;
};

/// Reads or writes four neighbours of any stride, up to the end of a row. Not inline, so that the registers of the other code are few.
template <class T>
static __device__ __noinline__ Four<T>
gathered(const T* in, Number at, Number end, bool is_line, Number b, Number c, Number d, Number s0, Number s1, Number s2, Number s3) {
    Four<T> four;
#pragma unroll
    for (int k = 0; k < 4; ++k) {
        if (at + k < end) four.at[k] = in[is_line ? (at + k) * s3 : offset(at + k, b, c, d, s0, s1, s2, s3)];
    }
    return four;
}
template <class T>
static __device__ __noinline__ void
scatter(T* out, Four<T> four, Number at, Number end, bool is_line, Number b, Number c, Number d, Number s0, Number s1, Number s2, Number s3) {
#pragma unroll
    for (int k = 0; k < 4; ++k) {
        if (at + k < end) out[is_line ? (at + k) * s3 : offset(at + k, b, c, d, s0, s1, s2, s3)] = four.at[k];
    }
}

/// The elements and the results of a row.
template <class Op> struct Row {
    typedef typename Op::In In;
    typedef typename Op::Out Out;
    typedef typename Op::State State;
    const Scanned& of;
    const In* in;
    Out* out;
    Number length;
    bool is_line, reads_words, writes_words;

    __device__ __forceinline__ Row(const Scanned& of, const void* in, void* out, Number row)
        : of(of), in((const In*)in + offset(row, of.kept, of.step)), out((Out*)out + offset(row, of.kept, of.first)),
          length(sf::elements(of.shape)), is_line(sf::is_line(of.shape)) {
        reads_words = is_line && of.stride[3] == 1 && (Number)this->in % alignof(Four<In>) == 0;
        writes_words = is_line && of.to[3] == 1 && (Number)this->out % alignof(Four<Out>) == 0;
    }
    /// How many elements there are from a place on, at most 2³² - 1.
    __device__ __forceinline__ unsigned int rest(Number at) const {
        const Number rest = at < length ? length - at : 0;
        return rest >> 32 == 0 ? (unsigned int)rest : ~0u;
    }
    /// Four neighbours, `by` elements after a place with `rest` elements.
    __device__ __forceinline__ Four<In> elements(Number at, unsigned int rest, unsigned int by) const {
        if (reads_words && by + 4 <= rest) return *(const Four<In>*)(in + at + by);
        return gathered(in, at + by, length, is_line, of.shape[1], of.shape[2], of.shape[3], of.stride[0], of.stride[1], of.stride[2], of.stride[3]);
    }
    /// The values of four neighbours, each combined with those before it. There are identities after the last element.
    __device__ __forceinline__ void
    values(const Op& op, const Four<In>& four, Number at, unsigned int rest, unsigned int by, State (&own)[4]) const {
#pragma unroll
        for (unsigned int c = 0; c < 4; ++c) {
            own[c] = by + c < rest ? op.of(four.at[c], at + by + c) : op.identity();
            if (c > 0) own[c] = op.combine(own[c - 1], own[c]);
        }
    }
    /// Writes the results of four neighbours, behind the value of all elements before them.
    __device__ __forceinline__ void
    write(const Op& op, State before, const State (&own)[4], Number at, unsigned int rest, unsigned int by) const {
        Four<Out> four;
#pragma unroll
        for (unsigned int c = 0; c < 4; ++c) four.at[c] = op.finish(op.combine(before, own[c]), at + by + c + 1);
        if (writes_words && by + 4 <= rest) {
            *(Four<Out>*)(out + at + by) = four;
        } else {
            scatter(out, four, at + by, length, is_line, of.shape[1], of.shape[2], of.shape[3], of.to[0], of.to[1], of.to[2], of.to[3]);
        }
    }
};

/// The value of the lane that is `by` lanes earlier in the warp, and of one lane.
template <class T> STREAMFLOW_BODY T earlier(T value, unsigned int by) {
    Words<T> own, other;
    own.value = value;
    for (unsigned int at = 0; at < words_of<T>(); ++at) {
        other.word[at] = __shfl_up_sync(0xffffffffu, own.word[at], by);
    }
    return other.value;
}
template <class T> STREAMFLOW_BODY T of_lane(T value, unsigned int lane) {
    Words<T> own, other;
    own.value = value;
    for (unsigned int at = 0; at < words_of<T>(); ++at) {
        other.word[at] = __shfl_sync(0xffffffffu, own.word[at], lane);
    }
    return other.value;
}

/// The value of all lanes of a warp, and that of the lanes before this one.
template <class Op>
STREAMFLOW_BODY typename Op::State of_lanes(const Op& op, typename Op::State value, unsigned int lane, typename Op::State& before) {
#pragma unroll
    for (unsigned int by = 1; by < 32; by *= 2) {
        const typename Op::State other = earlier(value, by);
        if (lane >= by) value = op.combine(other, value);
    }
    before = earlier(value, 1);
    if (lane == 0) before = op.identity();
    return of_lane(value, 31);
}

/// The values of tiles, of groups of 32 tiles, and of all tiles up to the end of a group of 32 groups, for other blocks to read. Each
/// word of a value is in the lower half of a number, whose upper half says that it is there: both halves come at once.
template <class T> struct Board {
    typedef volatile Number* Numbers;
    Numbers numbers;

    __device__ __forceinline__ void post(Number at, T value) const {
        Words<T> own;
        own.value = value;
#pragma unroll
        for (Number word = 0; word < words_of<T>(); ++word) numbers[at * words_of<T>() + word] = 1ull << 32 | own.word[word];
    }
    /// Waits for a value. Its block has begun before this one, and posts the value without waiting for this one.
    __device__ __forceinline__ T posted(Number at) const {
        Words<T> own;
        for (bool is_there = false; !is_there;) {
            is_there = true;
#pragma unroll
            for (Number word = 0; word < words_of<T>(); ++word) {
                const Number number = numbers[at * words_of<T>() + word];
                own.word[word] = (unsigned int)number;
                is_there = is_there && number >> 32 != 0;
            }
        }
        return own.value;
    }
};

/// How many values the tiles of a row post: for each tile, for each group, and for each group of groups.
STREAMFLOW_BODY Number values_of(Number tiles) { return tiles + (tiles + 31) / 32 + (tiles + 1023) / 1024; }

/// The value of all tiles before this one, whose own value is `own`. Each lane of a warp calls this.
template <class Op>
STREAMFLOW_BODY typename Op::State
before_tile(const Op& op, const Board<typename Op::State>& board, Number tiles, Number tile, typename Op::State own, unsigned int lane) {
    typedef typename Op::State State;
    const Number group = tile / 32, super = group / 32, groups = (tiles + 31) / 32;
    const unsigned int of_group = tile % 32, of_super = group % 32;
    if (lane == 0) board.post(tile, own);
    State unused;
    State in_group = lane < of_group ? board.posted(32 * group + lane) : op.identity();
    in_group = of_lanes(op, in_group, lane, unused);
    const State group_value = op.combine(in_group, own);
    if (lane == 0 && of_group == 31) board.post(tiles + group, group_value);
    // The last lane has the groups of groups before this one, since at most 31 groups come before a group.
    const bool is_last = lane == 31, is_needed = is_last ? super > 0 : lane < of_super;
    const Number at = tiles + (is_last ? groups + super - 1 : 32 * super + lane);
    const State found = is_needed ? board.posted(at) : op.identity();
    const State before = of_lane(found, 31);
    State in_super = of_lanes(op, is_last ? op.identity() : found, lane, unused);
    if (lane == 0 && of_group == 31 && of_super == 31) {
        board.post(tiles + groups + super, op.combine(before, op.combine(in_super, group_value)));
    }
    return op.combine(op.combine(before, in_super), in_group);
}

/// A block of 256 threads: one tile of a row, 8 rows by warps, or 256 rows by threads. `memory` has the number of tiles that have
/// begun, and the board.
template <class Op> STREAMFLOW_BODY void scan(const Op& op, const Scanned& of, const void* in, void* out, void* memory) {
    typedef typename Op::State State;
    typedef Four<typename Op::In> Word;
    const unsigned int thread = threadIdx.x, lane = thread % 32, warp = thread / 32;
    const Number rows = elements(of.kept);
    if (of.form == 3) {
        const Number number = blockIdx.x * 256ull + thread;
        if (number <= rows * values_of(of.tiles) * words_of<State>()) ((Number*)memory)[number] = 0;
        return;
    }
    if (of.form == 0) {
        const Number number = blockIdx.x * 256ull + thread;
        if (number >= rows) return;
        const Row<Op> row(of, in, out, number);
        State before = op.identity();
#pragma unroll 1
        for (Number at = 0; at < row.length; at += 4) {
            const unsigned int rest = row.rest(at);
            State own[4];
            row.values(op, row.elements(at, rest, 0), at, rest, 0, own);
            row.write(op, before, own, at, rest, 0);
            before = op.combine(before, own[3]);
        }
        return;
    }
    if (of.form == 1) {
        const Number number = blockIdx.x * 8ull + warp;
        if (number >= rows) return;
        const Row<Op> row(of, in, out, number);
        State before = op.identity();
#pragma unroll 1
        for (Number begin = 0; begin < row.length; begin += 128) {
            const Number at = begin + 4 * lane;
            const unsigned int rest = row.rest(at);
            State own[4], of_earlier;
            row.values(op, row.elements(at, rest, 0), at, rest, 0, own);
            const State all = of_lanes(op, own[3], lane, of_earlier);
            row.write(op, op.combine(before, of_earlier), own, at, rest, 0);
            before = op.combine(before, all);
        }
        return;
    }
    // How many times 128 elements a warp has in a tile.
    const int steps = sizeof(State) <= 4 ? 8 : sizeof(State) <= 8 ? 4 : 2;
    __shared__ Number begun;
    __shared__ State warps[8], of_tiles;
    Number number = blockIdx.x;
    if (of.tiles > 1) {
        // Blocks may begin in any order, and have their tiles in the order in which they begin.
        if (thread == 0) begun = atomicAdd((Number*)memory, 1ull);
        __syncthreads();
        number = begun;
    }
    const Number own_row = divide(number, of.tiles), tile = number - own_row * of.tiles;
    const Row<Op> row(of, in, out, own_row);
    const Number first = (tile * 8 + warp) * (128 * steps) + 4 * lane;
    const unsigned int rest = row.rest(first);
    Word words[steps];
#pragma unroll
    for (int step = 0; step < steps; ++step) words[step] = row.elements(first, rest, 128 * step);
    State own[steps][4], before[steps], sum = op.identity();
#pragma unroll
    for (int step = 0; step < steps; ++step) {
        row.values(op, words[step], first, rest, 128 * step, own[step]);
        const State all = of_lanes(op, own[step][3], lane, before[step]);
        before[step] = op.combine(sum, before[step]);
        sum = op.combine(sum, all);
    }
    if (lane == 0) warps[warp] = sum;
    __syncthreads();
    State of_warps = op.identity(), all = op.identity();
#pragma unroll
    for (unsigned int other = 0; other < 8; ++other) {
        if (other == warp) of_warps = all;
        all = op.combine(all, warps[other]);
    }
    State of_others = op.identity();
    if (of.tiles > 1) {
        if (warp == 0) {
            const Board<State> board = {(Number*)memory + 1 + own_row * values_of(of.tiles) * words_of<State>()};
            const State found = before_tile(op, board, of.tiles, tile, all, lane);
            if (lane == 0) of_tiles = found;
        }
        __syncthreads();
        of_others = of_tiles;
    }
    of_others = op.combine(of_others, of_warps);
#pragma unroll
    for (int step = 0; step < steps; ++step) {
        row.write(op, op.combine(of_others, before[step]), own[step], first, rest, 128 * step);
    }
}

#undef STREAMFLOW_BODY

}  // namespace sf
