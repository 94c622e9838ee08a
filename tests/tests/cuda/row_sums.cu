// One block per row: out[r] = sum of a[r][c] * b[r][c].
__shared__ float partial[32];
auto row_a = a + (unsigned long long)blockIdx.x * cols;
auto row_b = b + (unsigned long long)blockIdx.x * cols;
float sum = 0;
for (unsigned int c = threadIdx.x; c < cols; c += blockDim.x) sum += row_a[c] * row_b[c];
for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffff, sum, step);
if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = sum;
__syncthreads();
if (threadIdx.x == 0) {
    for (int warp = 1; warp < blockDim.x / 32; ++warp) sum += partial[warp];
    out[blockIdx.x] = sum;
}
