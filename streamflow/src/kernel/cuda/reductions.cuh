// The reductions of the library: `kernel/reduce/library.rs` has each one with the same meaning.
namespace sf {

#define STREAMFLOW_MEMBER __device__ __forceinline__

template <class I, class S> struct Sum {
    typedef I In;
    typedef S State;
    typedef S Out;
    STREAMFLOW_MEMBER S identity() const { return S(0); }
    STREAMFLOW_MEMBER S of(I value, Number) const { return cast<S>(value); }
    STREAMFLOW_MEMBER S combine(S a, S b) const { return add(a, b); }
    STREAMFLOW_MEMBER S finish(S sum, Number) const { return sum; }
};
template <class I, class S, class O> struct Mean : Sum<I, S> {
    typedef O Out;
    STREAMFLOW_MEMBER O finish(S sum, Number count) const { return div(cast<O>(sum), cast<O>(count)); }
};

/// The smallest and the largest number of a type.
template <class T> struct Ends {
    static STREAMFLOW_MEMBER T low() { return Limits<T>::low; }
    static STREAMFLOW_MEMBER T high() { return Limits<T>::high; }
};
template <> struct Ends<float> {
    static STREAMFLOW_MEMBER float low() { return f32_of(0xff800000ull); }
    static STREAMFLOW_MEMBER float high() { return f32_of(0x7f800000ull); }
};
template <> struct Ends<double> {
    static STREAMFLOW_MEMBER double low() { return f64_of(0xfff0000000000000ull); }
    static STREAMFLOW_MEMBER double high() { return f64_of(0x7ff0000000000000ull); }
};

/// The first that is no number, else the largest one, or the smallest one.
template <class T, bool is_max> struct Extreme {
    typedef T In;
    typedef T State;
    typedef T Out;
    STREAMFLOW_MEMBER T identity() const { return is_max ? Ends<T>::low() : Ends<T>::high(); }
    STREAMFLOW_MEMBER T of(T value, Number) const { return value; }
    STREAMFLOW_MEMBER T combine(T a, T b) const {
        if (a != a) return a;
        if (b != b) return b;
        return (is_max ? a < b : b < a) ? b : a;
    }
    STREAMFLOW_MEMBER T finish(T value, Number) const { return value; }
};

/// Norms: the sum of the absolute values, the root of the sum of the squares, and the largest absolute value.
template <class T> struct Norm1 : Sum<T, T> {
    STREAMFLOW_MEMBER T of(T value, Number) const { return abs(value); }
};
template <class T> struct Norm2 : Sum<T, T> {
    STREAMFLOW_MEMBER T of(T value, Number) const { return mul(value, value); }
    STREAMFLOW_MEMBER T finish(T sum, Number) const { return sqrt(sum); }
};
template <class T> struct NormInf : Extreme<T, true> {
    STREAMFLOW_MEMBER T identity() const { return T(0); }
    STREAMFLOW_MEMBER T of(T value, Number) const { return abs(value); }
};

template <class T> struct Placed {
    T value;
    Number index;
};
template <class T, bool is_max> struct ArgExtreme {
    typedef T In;
    typedef Placed<T> State;
    typedef Number Out;
    STREAMFLOW_MEMBER State identity() const { return {T(0), ~0ull}; }
    STREAMFLOW_MEMBER State of(T value, Number index) const { return {value, index}; }
    STREAMFLOW_MEMBER State combine(State a, State b) const {
        if (a.index == ~0ull) return b;
        if (b.index == ~0ull) return a;
        const bool a_is_nan = a.value != a.value, b_is_nan = b.value != b.value;
        if (a_is_nan != b_is_nan) return a_is_nan ? a : b;
        if (is_max ? b.value < a.value : a.value < b.value) return a;
        if (is_max ? a.value < b.value : b.value < a.value) return b;
        return a.index < b.index ? a : b;
    }
    STREAMFLOW_MEMBER Number finish(State best, Number) const { return best.index; }
};

#undef STREAMFLOW_MEMBER

}  // namespace sf
