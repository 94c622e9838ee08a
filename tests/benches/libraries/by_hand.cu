// The libraries called by hand, as a library that the benchmark `libraries` loads and takes turns with.
//
// In one line:
// nvcc -O3 -std=c++17 -arch=sm_90 -shared -Xcompiler -fPIC by_hand.cu -o libby_hand.so
//      -lcufft -lcublasLt -lcusparse -lcusolver
#include <cublasLt.h>
#include <cuda_runtime.h>
#include <cufft.h>
#include <cusolverDn.h>
#include <cusparse.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#define CK(call)                                                                    \
  do {                                                                              \
    int status = static_cast<int>(call);                                            \
    if (status) std::fprintf(stderr, "by hand: %s is %d\n", #call, status), abort(); \
  } while (0)

namespace {

void* device_memory(size_t bytes) {
  void* memory = nullptr;
  CK(cudaMalloc(&memory, bytes ? bytes : 1));
  return memory;
}

// A plan with operands of its own, on a stream of its own. All stays until the process ends.
struct Case {
  cudaStream_t stream;
  std::vector<void*> inputs;
  void* result = nullptr;
  size_t result_bytes = 0;

  Case() { CK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking)); }
  virtual ~Case() = default;
  virtual void prepare(int /*calls*/) {}
  virtual void call() = 0;

  void make_result(size_t bytes) { result = device_memory(result_bytes = bytes); }
};

// Sizes: the batch, then the dimensions.
struct Fft : Case {
  cufftHandle plan;

  explicit Fft(const std::vector<int64_t>& sizes) {
    long long dimensions[3], batch = sizes[0];
    size_t elements = batch, work = 0;
    int rank = static_cast<int>(sizes.size()) - 1;
    for (int i = 0; i < rank; i++) elements *= dimensions[i] = sizes[i + 1];
    CK(cufftCreate(&plan));
    CK(cufftSetAutoAllocation(plan, 0));
    CK(cufftSetStream(plan, stream));
    CK(cufftMakePlanMany64(plan, rank, dimensions, nullptr, 1, 0, nullptr, 1, 0, CUFFT_C2C, batch, &work));
    CK(cufftSetWorkArea(plan, device_memory(work)));
    make_result(elements * sizeof(cufftComplex));
  }

  void call() override {
    CK(cufftExecC2C(plan, static_cast<cufftComplex*>(inputs[0]), static_cast<cufftComplex*>(result), CUFFT_FORWARD));
  }
};

// Sizes: the bytes of an element, 4 for f32 and 2 for bf16; m, n, k; the batch.
struct Matmul : Case {
  static constexpr size_t WORK = 32 << 20;
  cublasLtHandle_t handle;
  cublasLtMatmulDesc_t desc;
  cublasLtMatrixLayout_t a, b, c;
  cublasLtMatmulHeuristicResult_t chosen;
  void* work;

  explicit Matmul(const std::vector<int64_t>& sizes) {
    int64_t bytes = sizes[0], m = sizes[1], n = sizes[2], k = sizes[3];
    int32_t batch = static_cast<int32_t>(sizes[4]);
    cudaDataType_t type = bytes == 2 ? CUDA_R_16BF : CUDA_R_32F;
    auto layout = [&](int64_t rows, int64_t columns) {
      cublasLtMatrixLayout_t made;
      int64_t apart = rows * columns;
      CK(cublasLtMatrixLayoutCreate(&made, type, columns, rows, columns));
      CK(cublasLtMatrixLayoutSetAttribute(made, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &batch, sizeof batch));
      CK(cublasLtMatrixLayoutSetAttribute(made, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &apart, sizeof apart));
      return made;
    };
    CK(cublasLtCreate(&handle));
    CK(cublasLtMatmulDescCreate(&desc, CUBLAS_COMPUTE_32F, CUDA_R_32F));
    a = layout(m, k), b = layout(k, n), c = layout(m, n);
    cublasLtMatmulPreference_t preference;
    CK(cublasLtMatmulPreferenceCreate(&preference));
    // As a plan: both sides then have the same algorithm.
    uint64_t most = WORK;
    uint32_t alignment = 256;
    CK(cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &most, sizeof most));
    for (auto operand : {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
                         CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES}) {
      CK(cublasLtMatmulPreferenceSetAttribute(preference, operand, &alignment, sizeof alignment));
    }
    int found = 0;
    // The matrices lie in rows, and the library takes columns: c^T = b^T a^T.
    CK(cublasLtMatmulAlgoGetHeuristic(handle, desc, b, a, c, c, preference, 1, &chosen, &found));
    CK(found == 1 ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_SUPPORTED);
    work = device_memory(chosen.workspaceSize);
    make_result(static_cast<size_t>(batch) * m * n * bytes);
  }

  void call() override {
    const float one = 1, zero = 0;
    CK(cublasLtMatmul(handle, desc, &one, inputs[1], b, inputs[0], a, &zero, result, c, result, c, &chosen.algo, work,
                      chosen.workspaceSize, stream));
  }
};

// Sizes: rows, columns, stored elements. Inputs: offsets, columns, values, x.
struct SpMv : Case {
  const float one = 1, zero = 0;
  cusparseHandle_t handle;
  cusparseSpMatDescr_t matrix = nullptr;
  cusparseDnVecDescr_t x, y;
  void* work = nullptr;
  std::vector<int64_t> sizes;

  explicit SpMv(const std::vector<int64_t>& sizes) : sizes(sizes) {
    CK(cusparseCreate(&handle));
    CK(cusparseSetStream(handle, stream));
    make_result(sizes[0] * sizeof(float));
  }

  // The descriptors need the operands.
  void prepare(int) override {
    if (matrix) return;
    CK(cusparseCreateCsr(&matrix, sizes[0], sizes[1], sizes[2], inputs[0], inputs[1], inputs[2], CUSPARSE_INDEX_32I,
                         CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F));
    CK(cusparseCreateDnVec(&x, sizes[1], inputs[3], CUDA_R_32F));
    CK(cusparseCreateDnVec(&y, sizes[0], result, CUDA_R_32F));
    size_t bytes = 0;
    CK(cusparseSpMV_bufferSize(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, matrix, x, &zero, y, CUDA_R_32F,
                               CUSPARSE_SPMV_ALG_DEFAULT, &bytes));
    work = device_memory(bytes);
    CK(cusparseSpMV_preprocess(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, matrix, x, &zero, y, CUDA_R_32F,
                               CUSPARSE_SPMV_ALG_DEFAULT, work));
  }

  void call() override {
    CK(cusparseSpMV(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, matrix, x, &zero, y, CUDA_R_32F,
                    CUSPARSE_SPMV_ALG_DEFAULT, work));
  }
};

// Sizes: n. Each call factors a copy of the matrix, which `prepare` makes.
struct Cholesky : Case {
  int64_t n;
  cusolverDnHandle_t handle;
  cusolverDnParams_t params;
  size_t work_bytes = 0, host_bytes = 0;
  void *work, *host_work;
  int* info = static_cast<int*>(device_memory(sizeof(int)));
  std::vector<void*> copies;
  size_t next = 0;

  explicit Cholesky(const std::vector<int64_t>& sizes) : n(sizes[0]) {
    CK(cusolverDnCreate(&handle));
    CK(cusolverDnSetStream(handle, stream));
    CK(cusolverDnCreateParams(&params));
    make_result(n * n * sizeof(double));
    // The lower triangle of rows is the upper one of columns.
    CK(cusolverDnXpotrf_bufferSize(handle, params, CUBLAS_FILL_MODE_UPPER, n, CUDA_R_64F, result, n, CUDA_R_64F,
                                   &work_bytes, &host_bytes));
    work = device_memory(work_bytes);
    host_work = host_bytes ? std::malloc(host_bytes) : nullptr;
  }

  void prepare(int calls) override {
    while (copies.size() < static_cast<size_t>(calls)) copies.push_back(device_memory(result_bytes));
    for (void* copy : copies) CK(cudaMemcpyAsync(copy, inputs[0], result_bytes, cudaMemcpyDeviceToDevice, stream));
    next = 0;
    result = copies[0];
  }

  void call() override {
    CK(cusolverDnXpotrf(handle, params, CUBLAS_FILL_MODE_UPPER, n, CUDA_R_64F, copies[next++], n, CUDA_R_64F, work,
                        work_bytes, host_work, host_bytes, info));
  }
};

__global__ void spin(long long cycles) {
  for (long long begin = clock64(); clock64() - begin < cycles;) {
  }
}

cudaEvent_t event(int index) {
  static cudaEvent_t events[2];
  if (!events[index]) CK(cudaEventCreate(&events[index]));
  return events[index];
}

}  // namespace

extern "C" {

// `inputs` are arrays on the host, of so many bytes each.
void* by_hand_new(const char* kind, const int64_t* sizes, int sizes_len, const void* const* inputs, const size_t* bytes,
                  int inputs_len) {
  std::vector<int64_t> all(sizes, sizes + sizes_len);
  Case* made = nullptr;
  if (!std::strcmp(kind, "fft")) made = new Fft(all);
  if (!std::strcmp(kind, "matmul")) made = new Matmul(all);
  if (!std::strcmp(kind, "spmv")) made = new SpMv(all);
  if (!std::strcmp(kind, "cholesky")) made = new Cholesky(all);
  for (int i = 0; made && i < inputs_len; i++) {
    made->inputs.push_back(device_memory(bytes[i]));
    CK(cudaMemcpy(made->inputs[i], inputs[i], bytes[i], cudaMemcpyHostToDevice));
  }
  return made;
}

// Prepares so many calls, and waits until the device has nothing to do.
void by_hand_prepare(void* made, int calls) {
  static_cast<Case*>(made)->prepare(calls);
  CK(cudaDeviceSynchronize());
}

void by_hand_call(void* made, int calls) {
  for (int i = 0; i < calls; i++) static_cast<Case*>(made)->call();
}

void* by_hand_stream(void* made) { return static_cast<Case*>(made)->stream; }

// Copies the result of the first call after `by_hand_prepare`, or of any if all have the same.
void by_hand_result(void* made, void* to, size_t bytes) {
  CK(cudaDeviceSynchronize());
  CK(cudaMemcpy(to, static_cast<Case*>(made)->result, bytes, cudaMemcpyDeviceToHost));
}

// Keeps a stream busy for so many cycles, so that the device begins the calls when all are queued, and marks the begin.
void by_hand_begin(void* stream, long long cycles) {
  spin<<<1, 1, 0, static_cast<cudaStream_t>(stream)>>>(cycles);
  CK(cudaGetLastError());
  CK(cudaEventRecord(event(0), static_cast<cudaStream_t>(stream)));
}

// Marks the end, waits for it, and returns the device's milliseconds since the begin.
float by_hand_end(void* stream) {
  float ms = 0;
  CK(cudaEventRecord(event(1), static_cast<cudaStream_t>(stream)));
  CK(cudaEventSynchronize(event(1)));
  CK(cudaEventElapsedTime(&ms, event(0), event(1)));
  return ms;
}
}
