// MatX on a tensor of streamflow: b = a * 2 * 0.5 on a stream. Build, with MatX's headers:
//   nvcc -std=c++20 -arch=sm_90 --expt-relaxed-constexpr -shared -Xcompiler -fPIC -I<matx>/include matx_probe.cu -o matx_probe.so
#include <cuda_runtime.h>
#include <matx.h>

extern "C" int matx_halve_of_double(DLManagedTensorVersioned *in, DLManagedTensorVersioned *out, cudaStream_t stream) {
  const auto count = in->dl_tensor.shape[0];
  if (in->dl_tensor.ndim != 1 || out->dl_tensor.shape[0] != count) return 1;
  auto data = [](DLManagedTensorVersioned *t) {
    return reinterpret_cast<float *>(static_cast<char *>(t->dl_tensor.data) + t->dl_tensor.byte_offset);
  };
  auto a = matx::make_tensor<float>(data(in), {count});
  auto b = matx::make_tensor<float>(data(out), {count});
  (b = a * 2.0f * 0.5f).run(matx::cudaExecutor{stream});
  return static_cast<int>(cudaGetLastError());
}
