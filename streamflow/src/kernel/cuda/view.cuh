// Strided views, of elements that need not follow each other.
namespace streamflow {

/// A view of N dimensions. It is `const` in a body: its elements can be written, if they are not `const` themselves.
template <class T, int N> struct View {
    T* data;
    unsigned long long lengths[N];
    unsigned long long steps[N];
#ifdef STREAMFLOW_CHECKED
    Place place;
    mutable typename Mutable<T>::Type spare;
#endif

    /// The length of a dimension; 0 is the outermost.
    __device__ __forceinline__ unsigned long long shape(int dimension) const {
        return lengths[dimension];
    }
    /// How far apart, in elements, neighbours in a dimension are.
    __device__ __forceinline__ unsigned long long stride(int dimension) const {
        return steps[dimension];
    }
    /// The number of elements.
    __device__ __forceinline__ unsigned long long size() const {
        unsigned long long count = 1;
        for (int i = 0; i < N; ++i) count *= lengths[i];
        return count;
    }

    /// An element, by an index for each dimension.
    template <class... I> __device__ __forceinline__ T& operator()(I... indices) const {
        static_assert(sizeof...(I) == N, "one index for each dimension of the view");
        const unsigned long long at[N] = {(unsigned long long)indices...};
        return element(at);
    }

    /// An element by its number, the last dimension varying fastest. It takes a division for each dimension but the
    /// first.
    __device__ __forceinline__ T& operator[](unsigned long long number) const {
        unsigned long long at[N];
        for (int i = N - 1; i > 0; --i) {
            at[i] = number % lengths[i];
            number /= lengths[i];
        }
        at[0] = number;
        return element(at);
    }

private:
    __device__ __forceinline__ T& element(const unsigned long long (&at)[N]) const {
        unsigned long long offset = 0;
        for (int i = 0; i < N; ++i) {
#ifdef STREAMFLOW_CHECKED
            // A negative index, as unsigned, is larger than every length.
            if (at[i] >= lengths[i]) {
                place.beyond((long long)at[i], lengths[i]);
                spare = typename Mutable<T>::Type();
                return spare;
            }
#endif
            offset += at[i] * steps[i];
        }
        return data[offset];
    }
};

}  // namespace streamflow
