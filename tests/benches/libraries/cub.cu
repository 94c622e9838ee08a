// The device's time of CUB's reduction and inclusive scan of 2^26 `float`s, for comparison with `one_body.rs`.
//
//     nvcc -O3 -arch=native cub.cu -o cub && ./cub
//
// 20 launches come first, and 200 are timed, each by two events of the stream. A line has the median, as bytes of memory that the
// work needs by second, in GB/s: a reduction reads each element, and a scan also writes one.
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_scan.cuh>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

static void check(cudaError_t done, int line) {
    if (done == cudaSuccess) return;
    fprintf(stderr, "cub.cu:%d: %s\n", line, cudaGetErrorString(done));
    exit(1);
}
#define CHECK(call) check((call), __LINE__)

template <class Launch> static void measure(const char* name, double bytes, Launch launch) {
    const int WARM_UP = 20, LAUNCHES = 200;
    cudaEvent_t begin, end;
    CHECK(cudaEventCreate(&begin));
    CHECK(cudaEventCreate(&end));
    void* work = nullptr;
    size_t size = 0;
    CHECK(launch(work, size));
    CHECK(cudaMalloc(&work, size));
    std::vector<float> times;
    for (int number = 0; number < WARM_UP + LAUNCHES; ++number) {
        CHECK(cudaEventRecord(begin));
        CHECK(launch(work, size));
        CHECK(cudaEventRecord(end));
        CHECK(cudaEventSynchronize(end));
        float milliseconds = 0;
        CHECK(cudaEventElapsedTime(&milliseconds, begin, end));
        if (number >= WARM_UP) times.push_back(milliseconds);
    }
    std::sort(times.begin(), times.end());
    printf("%-28s %10.1f\n", name, bytes / (times[LAUNCHES / 2] * 1e-3) / 1e9);
    CHECK(cudaFree(work));
}

int main() {
    const size_t n = 1 << 26;
    std::vector<float> values(n);
    unsigned long long state = 1;
    for (float& value : values) {
        state = state * 6364136223846793005ull + 1442695040888963407ull;
        value = (float)(state >> 40) / 8e6f - 1.0f;
    }
    float *in = nullptr, *out = nullptr;
    CHECK(cudaMalloc(&in, n * sizeof(float)));
    CHECK(cudaMalloc(&out, n * sizeof(float)));
    CHECK(cudaMemcpy(in, values.data(), n * sizeof(float), cudaMemcpyHostToDevice));
    printf("%-28s %10s\n", "GB/s", "CUB");
    measure("sum of f32", 4.0 * n, [&](void* work, size_t& size) { return cub::DeviceReduce::Sum(work, size, in, out, (int)n); });
    measure("inclusive scan of f32", 8.0 * n,
            [&](void* work, size_t& size) { return cub::DeviceScan::InclusiveSum(work, size, in, out, (int)n); });
}
