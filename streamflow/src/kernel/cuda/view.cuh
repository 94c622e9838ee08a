//  Strided views: views of elements that may have gaps between them.
namespace streamflow {

/// A view of N dimensions. The view itself is `const` in a body, but its elements can be written unless `T` is `const`.
template <class T, int N> struct View {
    T* data;
    unsigned long long lengths[N];
    unsigned long long steps[N];
#ifdef STREAMFLOW_CHECKED
    Place place;
    mutable typename Mutable<T>::Type spare;
#endif

    /// The length of a dimension. Dimension 0 is the outermost.
    __device__ __forceinline__ unsigned long long shape(int dimension) const {
        return lengths[dimension];
    }
    /// The distance, in elements, between neighbours in a dimension.
    __device__ __forceinline__ unsigned long long stride(int dimension) const {
        return steps[dimension];
    }
    /// The number of elements.
    __device__ __forceinline__ unsigned long long size() const {
        unsigned long long count = 1;
        for (int i = 0; i < N; ++i) count *= lengths[i];
        return count;
    }

    /// Returns the element at these indices, one for each dimension.
    template <class... I> __device__ __forceinline__ T& operator()(I... indices) const {
        static_assert(sizeof...(I) == N, "one index for each dimension of the view");
        const unsigned long long at[N] = {(unsigned long long)indices...};
        return element(at);
    }

    /// Returns the element with this number, where the last dimension varies fastest. Each dimension but the first costs a
    ///  division.
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
            //  A negative index, cast to unsigned, is larger than every length.
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
