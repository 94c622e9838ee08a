// The windows of stencils: `kernel/body/window.rs` has the same borders. An element is given by its distance from the window's
// centre, for each of four dimensions.
namespace sf {

/// Whether all elements within `reach` of `count` places from `first` on are in a dimension of this length.
static __device__ __forceinline__ bool is_within(
    unsigned long long first, unsigned int count, unsigned int reach, unsigned long long len) {
    return first >= reach && first + count + reach <= len;
}

/// The window of a thread whose block has all elements that it reaches. `row` is the number of rows from the thread's first element
/// to the centre, a constant, so that the rows of a thread name an element that they share in the same way, and it is read once.
template <class T> struct Inner {
    const T* first;
    int row;
    long long step0, step1, step2, step3;

    __device__ __forceinline__ T at(int by0, int by1, int by2, int by3) const {
        return first[by0 * step0 + by1 * step1 + (row + by2) * step2 + by3 * step3];
    }
};

// The borders: the place in a dimension of an index that is not in it. A negative place has the value 0.
struct Clamp {
    static __device__ __forceinline__ long long place(long long at, long long len) { return at < 0 ? 0 : len - 1; }
};
struct Zero {
    static __device__ __forceinline__ long long place(long long, long long) { return -1; }
};
struct Wrap {
    static __device__ __forceinline__ long long place(long long at, long long len) {
        at %= len;
        return at < 0 ? at + len : at;
    }
};
struct Mirror {
    static __device__ __forceinline__ long long place(long long at, long long len) {
        const long long period = len > 1 ? 2 * len - 2 : 1;
        at %= period;
        if (at < 0) at += period;
        return at < len ? at : period - at;
    }
};

/// The window of a thread whose block is at an edge.
template <class T, class Border> struct Outer {
    const T* first;
    long long at0, at1, at2, at3;
    long long len0, len1, len2, len3;
    long long step0, step1, step2, step3;

    __device__ __forceinline__ T at(int by0, int by1, int by2, int by3) const {
        const long long to0 = place(at0, by0, len0), to1 = place(at1, by1, len1);
        const long long to2 = place(at2, by2, len2), to3 = place(at3, by3, len3);
        if (to0 < 0 || to1 < 0 || to2 < 0 || to3 < 0) return T(0);
        return first[to0 * step0 + to1 * step1 + to2 * step2 + to3 * step3];
    }

    static __device__ __forceinline__ long long place(long long at, int by, long long len) {
        const long long to = at + by;
        return by == 0 || (to >= 0 && to < len) ? to : Border::place(to, len);
    }
};

}  // namespace sf
