// Functions that every kernel body can call.

/// This thread's index in x over the whole grid. The index has 64 bits, because a grid can have more
///  threads than 32 bits count.
static __device__ __forceinline__ unsigned long long thread_index() {
    return (unsigned long long)blockIdx.x * blockDim.x + threadIdx.x;
}

/// This thread's index in y over the whole grid.
static __device__ __forceinline__ unsigned long long thread_index_y() {
    return (unsigned long long)blockIdx.y * blockDim.y + threadIdx.y;
}

/// This thread's index in z over the whole grid.
static __device__ __forceinline__ unsigned long long thread_index_z() {
    return (unsigned long long)blockIdx.z * blockDim.z + threadIdx.z;
}

/// The bytes of dynamic shared memory of this block.
static __device__ __forceinline__ unsigned int shared_bytes() {
    unsigned int bytes;
    asm("mov.u32 %0, %%dynamic_smem_size;" : "=r"(bytes));
    return bytes;
}

/// The grid's number of threads in x: the stride of a loop over more elements than threads.
static __device__ __forceinline__ unsigned long long thread_count() {
    return (unsigned long long)gridDim.x * blockDim.x;
}
