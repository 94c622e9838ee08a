// The C++ program as a library, so that `seed_tick --cpp` can run it in turns with the other forms.
// SEED_GRAPH names its source file, which has the kernels and `struct G` with `G(rows, cols)`, `tick(number)`
// and the events `e4` after each tick's copy. Its `main` is renamed.
//
// nvcc -O3 -std=c++17 -arch=sm_90 -shared -Xcompiler -fPIC -DSEED_GRAPH='"seed_graph.cu"' cpp.cu -o seed.so
#define main seed_main
#include SEED_GRAPH
#undef main

namespace {
struct Seed {
  G g;
  int ticks = 0;
};
}  // namespace

extern "C" {
void* seed_new(int rows, int cols) { return new Seed{G(rows, cols)}; }

void seed_queue(void* seed, int ticks) {
  auto* s = static_cast<Seed*>(seed);
  for (int end = s->ticks + ticks; s->ticks < end; s->ticks++) s->g.tick(s->ticks);
}

void seed_wait_last(void* seed) {
  auto* s = static_cast<Seed*>(seed);
  CK(cudaEventSynchronize(s->g.e4[(s->ticks - 1) % G::D]));
}

void seed_wait_all(void*) { CK(cudaDeviceSynchronize()); }
}
