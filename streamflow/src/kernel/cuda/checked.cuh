//  Slices that know their length, for STREAMFLOW_CHECK_BOUNDS=1.
namespace streamflow {

#define STREAMFLOW_CHECKED

/// An argument of a kernel, for reports about it.
struct Place {
    unsigned int argument;
    unsigned long long kernel;
    Report* report;

    __device__ void beyond(long long index, unsigned long long length) const {
        if (report != nullptr) report->keep(argument, kernel, index, length);
    }
};

template <class T> struct Mutable { typedef T Type; };
template <class T> struct Mutable<const T> { typedef T Type; };

/// The type of an argument in place of `T*`. An access out of range is reported, and uses a spare element of the thread,
///  which is zero. So the kernel continues and no other memory is changed.
///
/// `&slice[i]` and a conversion to `T*` give bare pointers, with which accesses are not checked;
/// `auto row = slice + n` keeps the checks.
template <class T> struct Checked {
    typedef typename Mutable<T>::Type Value;

    __device__ Checked(T* data, unsigned long long length, unsigned int argument,
                       unsigned long long kernel, Report* report)
        : data(data), offset(0), length(length), place{argument, kernel, report}, spare() {}

    template <class I> __device__ T& operator[](I index) const {
        return at(offset + (long long)index);
    }
    __device__ T& operator*() const { return at(offset); }
    __device__ T* operator->() const { return &at(offset); }
    __device__ operator T*() const {
        if (offset < 0 || (unsigned long long)offset > length) at(offset);
        return data + offset;
    }

//  Each integer type has an overload: with only one, the built-in `T* + long` would make calls ambiguous.
#define STREAMFLOW_STEP(I)                                                                         \
    __device__ Checked operator+(I n) const { return moved((long long)n); }                        \
    __device__ Checked operator-(I n) const { return moved(-(long long)n); }                       \
    __device__ Checked& operator+=(I n) { offset += (long long)n; return *this; }                  \
    __device__ Checked& operator-=(I n) { offset -= (long long)n; return *this; }
    STREAMFLOW_STEP(int)
    STREAMFLOW_STEP(unsigned int)
    STREAMFLOW_STEP(long)
    STREAMFLOW_STEP(unsigned long)
    STREAMFLOW_STEP(long long)
    STREAMFLOW_STEP(unsigned long long)
#undef STREAMFLOW_STEP
    __device__ Checked& operator++() { offset += 1; return *this; }
    __device__ Checked& operator--() { offset -= 1; return *this; }
    __device__ Checked operator++(int) { Checked old = *this; offset += 1; return old; }
    __device__ Checked operator--(int) { Checked old = *this; offset -= 1; return old; }

private:
    // A negative index, cast to unsigned, is larger than every length.
    __device__ T& at(long long index) const {
        if ((unsigned long long)index < length) return data[index];
        place.beyond(index, length);
        spare = Value();
        return spare;
    }
    __device__ Checked moved(long long by) const {
        Checked copy = *this;
        copy.offset += by;
        return copy;
    }

    T* data;
    long long offset;
    unsigned long long length;
    Place place;
    mutable Value spare;
};

template <class T>
static __device__ Checked<T> operator+(long long n, const Checked<T>& slice) { return slice + n; }

}  // namespace streamflow
