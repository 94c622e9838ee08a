//  A truth value of one byte. The type is not `bool`: the byte may have any value, and the compiler assumes 0 or 1 in a `bool`.
struct bool8 {
    unsigned char byte;

    //  The constructor is defaulted, without code, so that `__shared__ bool8 mask[32]` is possible.
    bool8() = default;
    __device__ bool8(bool value) : byte(value) {}
    __device__ operator bool() const { return byte != 0; }
};
