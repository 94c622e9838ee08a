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

/// Neighbours, read by hints that their memory is used once: the cache replaces its lines first. Neighbours of fewer than 16 bytes are
/// read without a hint.
template <class T> STREAMFLOW_BODY Four<T> read_once(const T* at) {
    const int parts = sizeof(Four<T>) / sizeof(uint4);
    if (parts == 0) return *(const Four<T>*)at;
    Four<T> four;
#pragma unroll
    for (int part = 0; part < parts; ++part) {
        const uint4 word = __ldcs((const uint4*)at + part);
        memcpy((char*)&four + part * sizeof(word), &word, sizeof(word));
    }
    return four;
}
template <class T> STREAMFLOW_BODY void write_once(T* at, const Four<T>& four) {
    const int parts = sizeof(four) / sizeof(uint4);
    if (parts == 0) *(Four<T>*)at = four;
#pragma unroll
    for (int part = 0; part < parts; ++part) {
        uint4 word;
        memcpy(&word, (const char*)&four + part * sizeof(word), sizeof(word));
        __stcs((uint4*)at + part, word);
    }
}

/// The elements and the results of a row. The methods for four neighbours have no branches if `is_whole` says that all four are there,
/// and that their memory is aligned for whole words.
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
    template <bool is_whole> __device__ __forceinline__ Four<In> elements(Number at, unsigned int rest, unsigned int by) const {
        if (is_whole) return read_once(in + at + by);
        if (reads_words && by + 4 <= rest) return *(const Four<In>*)(in + at + by);
        return gathered(in, at + by, length, is_line, of.shape[1], of.shape[2], of.shape[3], of.stride[0], of.stride[1], of.stride[2], of.stride[3]);
    }
    /// The values of four neighbours, each combined with those before it. There are identities after the last element.
    template <bool is_whole>
    __device__ __forceinline__ void
    values(const Op& op, const Four<In>& four, Number at, unsigned int rest, unsigned int by, State (&own)[4]) const {
#pragma unroll
        for (unsigned int c = 0; c < 4; ++c) {
            own[c] = is_whole || by + c < rest ? op.of(four.at[c], at + by + c) : op.identity();
            if (c > 0) own[c] = op.combine(own[c - 1], own[c]);
        }
    }
    /// Writes the results of four neighbours, behind the value of all elements before them.
    template <bool is_whole>
    __device__ __forceinline__ void
    write(const Op& op, State before, const State (&own)[4], Number at, unsigned int rest, unsigned int by) const {
        Four<Out> four;
#pragma unroll
        for (unsigned int c = 0; c < 4; ++c) four.at[c] = op.finish(op.combine(before, own[c]), at + by + c + 1);
        if (is_whole) {
            write_once(out + at + by, four);
        } else if (writes_words && by + 4 <= rest) {
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

/// The values of all lanes of a warp in several steps, and those of the lanes before this one. The steps go side by side, since a value of
/// another lane takes a while.
template <int N, class Op>
STREAMFLOW_BODY void of_lanes(const Op& op, typename Op::State (&value)[N], unsigned int lane, typename Op::State (&before)[N]) {
#pragma unroll
    for (unsigned int by = 1; by < 32; by *= 2) {
        typename Op::State other[N];
#pragma unroll
        for (int step = 0; step < N; ++step) other[step] = earlier(value[step], by);
#pragma unroll
        for (int step = 0; step < N; ++step) {
            if (lane >= by) value[step] = op.combine(other[step], value[step]);
        }
    }
#pragma unroll
    for (int step = 0; step < N; ++step) {
        before[step] = earlier(value[step], 1);
        if (lane == 0) before[step] = op.identity();
        value[step] = of_lane(value[step], 31);
    }
}
template <class Op>
STREAMFLOW_BODY typename Op::State of_lanes(const Op& op, typename Op::State value, unsigned int lane, typename Op::State& before) {
    typename Op::State all[1] = {value}, others[1];
    of_lanes(op, all, lane, others);
    before = others[0];
    return all[0];
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
STREAMFLOW_BODY unsigned int values_of(unsigned int tiles) { return tiles + (tiles + 31) / 32 + (tiles + 1023) / 1024; }

/// The value of all tiles before this one, whose own value is `own`. Each lane of a warp calls this.
template <class Op>
STREAMFLOW_BODY typename Op::State
before_tile(const Op& op, const Board<typename Op::State>& board, unsigned int tiles, unsigned int tile, typename Op::State own, unsigned int lane) {
    typedef typename Op::State State;
    const unsigned int group = tile / 32, super = group / 32, groups = (tiles + 31) / 32, of_group = tile % 32, of_super = group % 32;
    if (lane == 0) board.post(tile, own);
    State unused;
    State in_group = lane < of_group ? board.posted(32 * group + lane) : op.identity();
    in_group = of_lanes(op, in_group, lane, unused);
    const State group_value = op.combine(in_group, own);
    if (lane == 0 && of_group == 31) board.post(tiles + group, group_value);
    // The last lane has the groups of groups before this one, since at most 31 groups come before a group.
    const bool is_last = lane == 31, is_needed = is_last ? super > 0 : lane < of_super;
    const unsigned int at = tiles + (is_last ? groups + super - 1 : 32 * super + lane);
    const State found = is_needed ? board.posted(at) : op.identity();
    const State before = of_lane(found, 31);
    State in_super = of_lanes(op, is_last ? op.identity() : found, lane, unused);
    if (lane == 0 && of_group == 31 && of_super == 31) {
        board.post(tiles + groups + super, op.combine(before, op.combine(in_super, group_value)));
    }
    return op.combine(op.combine(before, in_super), in_group);
}

/// How many times 128 elements a warp has in a tile.
template <class State> static __device__ constexpr int steps_of() { return sizeof(State) <= 4 ? 8 : sizeof(State) <= 8 ? 4 : 2; }

/// Values that the warps of a tile exchange.
template <class State> struct Exchange {
    State warps[8], tiles;
};

/// A tile of a row. Its number has 32 bits, since a grid has fewer than 2³¹ blocks.
template <bool is_whole, class Op>
STREAMFLOW_BODY void scan_tile(const Op& op, const Row<Op>& row, unsigned int tile, Board<typename Op::State> board, Exchange<typename Op::State>& exchange) {
    typedef typename Op::State State;
    const unsigned int lane = threadIdx.x % 32, warp = threadIdx.x / 32, tiles = row.of.tiles;
    const int steps = steps_of<State>();
    const Number first = (Number)tile * (8 * 128 * steps) + (warp * 128 * steps + 4 * lane);
    const unsigned int rest = is_whole ? 0 : row.rest(first);
    Four<typename Op::In> words[steps];
#pragma unroll
    for (int step = 0; step < steps; ++step) words[step] = row.template elements<is_whole>(first, rest, 128 * step);
    State own[steps][4], all[steps], before[steps], sum = op.identity();
#pragma unroll
    for (int step = 0; step < steps; ++step) {
        row.template values<is_whole>(op, words[step], first, rest, 128 * step, own[step]);
        all[step] = own[step][3];
    }
    of_lanes(op, all, lane, before);
#pragma unroll
    for (int step = 0; step < steps; ++step) {
        before[step] = op.combine(sum, before[step]);
        sum = op.combine(sum, all[step]);
    }
    if (lane == 0) exchange.warps[warp] = sum;
    __syncthreads();
    State of_warps = op.identity(), of_block = op.identity();
#pragma unroll
    for (unsigned int other = 0; other < 8; ++other) {
        if (other == warp) of_warps = of_block;
        of_block = op.combine(of_block, exchange.warps[other]);
    }
    State of_others = op.identity();
    if (tiles > 1) {
        if (warp == 0) {
            const State found = before_tile(op, board, tiles, tile, of_block, lane);
            if (lane == 0) exchange.tiles = found;
        }
        __syncthreads();
        of_others = exchange.tiles;
    }
    of_others = op.combine(of_others, of_warps);
#pragma unroll
    for (int step = 0; step < steps; ++step) {
        row.template write<is_whole>(op, op.combine(of_others, before[step]), own[step], first, rest, 128 * step);
    }
}
/// A tile that is not full, or whose elements or results have gaps or are not aligned. Not inline, so that its calls cost the other tiles
/// no registers.
template <class Op>
static __device__ __noinline__ void
scan_part(Op op, Scanned of, const void* in, void* out, Number row, unsigned int tile, Board<typename Op::State> board, Exchange<typename Op::State>* exchange) {
    scan_tile<false>(op, Row<Op>(of, in, out, row), tile, board, *exchange);
}

/// A block of 256 threads: one tile of a row, 8 rows by warps, or 256 rows by threads. `memory` has the number of tiles that have
/// begun, and the board.
template <class Op> STREAMFLOW_BODY void scan(const Op& op, const Scanned& of, const void* in, void* out, void* memory) {
    typedef typename Op::State State;
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
            row.template values<false>(op, row.template elements<false>(at, rest, 0), at, rest, 0, own);
            row.template write<false>(op, before, own, at, rest, 0);
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
            row.template values<false>(op, row.template elements<false>(at, rest, 0), at, rest, 0, own);
            const State all = of_lanes(op, own[3], lane, of_earlier);
            row.template write<false>(op, op.combine(before, of_earlier), own, at, rest, 0);
            before = op.combine(before, all);
        }
        return;
    }
    __shared__ Number begun;
    __shared__ Exchange<State> exchange;
    Number number = blockIdx.x;
    if (of.tiles > 1) {
        // Blocks may begin in any order, and have their tiles in the order in which they begin.
        if (thread == 0) begun = atomicAdd((Number*)memory, 1ull);
        __syncthreads();
        number = begun;
    }
    const Number own_row = divide(number, of.tiles), tile = number - own_row * of.tiles;
    const Board<State> board = {(Number*)memory + 1 + own_row * values_of(of.tiles) * words_of<State>()};
    const Row<Op> row(of, in, out, own_row);
    if (row.reads_words && row.writes_words && (tile + 1) * (8 * 128 * steps_of<State>()) <= row.length) {
        scan_tile<true>(op, row, tile, board, exchange);
    } else {
        scan_part(op, of, in, out, own_row, tile, board, &exchange);
    }
}

#undef STREAMFLOW_BODY

}  // namespace sf
