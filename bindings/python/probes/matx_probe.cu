// MatX on a tensor of streamflow: b = a * 2 * 0.5 on a stream. Build, with MatX's headers:
//   nvcc -std=c++20 -arch=sm_90 --expt-relaxed-constexpr -shared -Xcompiler -fPIC -I<matx>/include matx_probe.cu -o matx_probe.so
#include <cuda_runtime.h>
#include <matx.h>

// Both managed tensors belong to MatX, which deletes them when this function returns, while the kernel may still be queued.
extern "C" int matx_halve_of_double(DLManagedTensorVersioned *in, DLManagedTensorVersioned *out, cudaStream_t stream) {
  try {
    matx::tensor_t<float, 1> a, b;
    matx::make_tensor(a, in);
    matx::make_tensor(b, out);
    (b = a * 2.0f * 0.5f).run(matx::cudaExecutor{stream});
    return static_cast<int>(cudaGetLastError());
  } catch (...) {
    return -1;
  }
}
