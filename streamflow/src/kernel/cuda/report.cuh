// The channel by which a kernel tells the host of its first mistake.
namespace streamflow {

/// The first mistake. `kernel/bounds.rs` has the same layout.
struct Report {
    unsigned int state;  // 0: empty, 1: being written, 2: complete
    unsigned int argument;
    unsigned long long kernel;
    long long index;
    unsigned long long length;
    unsigned long long line;

    /// Keeps the mistake, if it is the first.
    __device__ void keep(unsigned int of, unsigned long long in, long long at, unsigned long long among,
                         unsigned long long on_line = 0) {
        if (atomicCAS(&state, 0u, 1u) != 0u) return;
        argument = of;
        kernel = in;
        index = at;
        length = among;
        line = on_line;
        // The host reads the report while the kernel may still run.
        __threadfence_system();
        *(volatile unsigned int*)&state = 2u;
    }
};

}  // namespace streamflow
