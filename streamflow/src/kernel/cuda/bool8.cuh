// A truth value of one byte. A `bool` would be wrong: the byte may be any, and the compiler assumes 0 or 1 in a `bool`.
struct bool8 {
    unsigned char byte;

    // No constructor code, so that `__shared__ bool8 mask[32]` is possible.
    bool8() = default;
    __device__ bool8(bool value) : byte(value) {}
    __device__ operator bool() const { return byte != 0; }
};
