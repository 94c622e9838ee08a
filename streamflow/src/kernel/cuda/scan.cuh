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
    /// Four neighbours.
    __device__ __forceinline__ Four<In> elements(Number at) const {
        if (reads_words && at + 4 <= length) return *(const Four<In>*)(in + at);
        Four<In> four;
#pragma unroll
        for (int c = 0; c < 4; ++c) {
            if (at + c < length) four.at[c] = in[is_line ? (at + c) * of.stride[3] : offset(at + c, of.shape, of.stride)];
        }
        return four;
    }
    /// The values of four neighbours, each combined with those before it. There are identities after the last element.
    __device__ __forceinline__ void values(const Op& op, const Four<In>& four, Number at, State (&own)[4]) const {
#pragma unroll
        for (int c = 0; c < 4; ++c) {
            own[c] = at + c < length ? op.of(four.at[c], at + c) : op.identity();
            if (c > 0) own[c] = op.combine(own[c - 1], own[c]);
        }
    }
    /// Writes the results of four neighbours, behind the value of all elements before them.
    __device__ __forceinline__ void write(const Op& op, State before, const State (&own)[4], Number at) const {
        Four<Out> four;
#pragma unroll
        for (int c = 0; c < 4; ++c) four.at[c] = op.finish(op.combine(before, own[c]), at + c + 1);
        if (writes_words && at + 4 <= length) {
            *(Four<Out>*)(out + at) = four;
            return;
        }
#pragma unroll
        for (int c = 0; c < 4; ++c) {
            if (at + c < length) out[is_line ? (at + c) * of.to[3] : offset(at + c, of.shape, of.to)] = four.at[c];
        }
    }
};

/// The value of the lane that is `by` lanes earlier in the warp, and of one lane.
template <class T> STREAMFLOW_BODY T earlier(T value, unsigned int by) {
    Words<T> own, other;
    own.value = value;
    for (unsigned int at = 0; at < sizeof(own.word) / sizeof(own.word[0]); ++at) {
        other.word[at] = __shfl_up_sync(0xffffffffu, own.word[at], by);
    }
    return other.value;
}
template <class T> STREAMFLOW_BODY T of_lane(T value, unsigned int lane) {
    Words<T> own, other;
    own.value = value;
    for (unsigned int at = 0; at < sizeof(own.word) / sizeof(own.word[0]); ++at) {
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

/// The values of tiles, of groups of 32 tiles, and of all tiles up to the end of a group of 32 groups, for other blocks to read.
template <class T> struct Board {
    unsigned int* are_posted;
    unsigned int* words;

    __device__ __forceinline__ void post(Number at, T value) const {
        Words<T> own;
        own.value = value;
        const Number count = sizeof(own.word) / sizeof(own.word[0]);
        for (Number word = 0; word < count; ++word) __stcg(words + at * count + word, own.word[word]);
        __threadfence();
        *(volatile unsigned int*)(are_posted + at) = 1;
    }
    /// Waits for a value. Its block has begun before this one, so it posts the value without waiting for this one.
    __device__ __forceinline__ T posted(Number at) const {
        while (*(const volatile unsigned int*)(are_posted + at) == 0) {}
        __threadfence();
        Words<T> own;
        const Number count = sizeof(own.word) / sizeof(own.word[0]);
        for (Number word = 0; word < count; ++word) own.word[word] = __ldcg(words + at * count + word);
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
    State in_super = lane < of_super ? board.posted(tiles + 32 * super + lane) : op.identity();
    in_super = of_lanes(op, in_super, lane, unused);
    const State before = super > 0 ? board.posted(tiles + groups + super - 1) : op.identity();
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
    const Number rows = elements(of.kept), values = rows * values_of(of.tiles);
    if (of.form == 3) {
        const Number word = blockIdx.x * 256ull + thread;
        if (word < 4 + values) ((unsigned int*)memory)[word] = 0;
        return;
    }
    if (of.form == 0) {
        const Number number = blockIdx.x * 256ull + thread;
        if (number >= rows) return;
        const Row<Op> row(of, in, out, number);
        State before = op.identity();
#pragma unroll 1
        for (Number at = 0; at < row.length; at += 4) {
            State own[4];
            row.values(op, row.elements(at), at, own);
            row.write(op, before, own, at);
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
            State own[4], of_earlier;
            row.values(op, row.elements(at), at, own);
            const State all = of_lanes(op, own[3], lane, of_earlier);
            row.write(op, op.combine(before, of_earlier), own, at);
            before = op.combine(before, all);
        }
        return;
    }
    // How many times 128 elements a warp has in a tile.
    const int steps = sizeof(State) <= 4 ? 4 : sizeof(State) <= 8 ? 2 : 1;
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
    Word words[steps];
#pragma unroll
    for (int step = 0; step < steps; ++step) words[step] = row.elements(first + 128 * step);
    State own[steps][4], before[steps], sum = op.identity();
#pragma unroll
    for (int step = 0; step < steps; ++step) {
        row.values(op, words[step], first + 128 * step, own[step]);
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
            unsigned int* const board = (unsigned int*)memory + 4;
            const Number at = own_row * values_of(of.tiles), size = (sizeof(State) + 3) / 4;
            const Board<State> of_row = {board + at, board + values + at * size};
            const State found = before_tile(op, of_row, of.tiles, tile, all, lane);
            if (lane == 0) of_tiles = found;
        }
        __syncthreads();
        of_others = of_tiles;
    }
    of_others = op.combine(of_others, of_warps);
#pragma unroll
    for (int step = 0; step < steps; ++step) {
        row.write(op, op.combine(of_others, before[step]), own[step], first + 128 * step);
    }
}

#undef STREAMFLOW_BODY

}  // namespace sf
