// What a record of an event and a wait for one cost when streams have a history of stream-ordered allocations.
//
// In one line; each process measures one mode with so many streams:
// nvcc -O2 -x c pool_history.c -o pool_history -lcuda; for mode in 0 1 2 3 4 5 6 7 8 9 10 11; do ./pool_history $mode 256; done
//
// Each stream waits for the stream before it and records, then for the one 16 before it. The times are the least of nine
// runs of 20,000 such tasks, in ns a task.
#include <cuda.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define CK(call)                                                              \
  do {                                                                        \
    CUresult result = (call);                                                 \
    if (result) fprintf(stderr, "%s returned %d\n", #call, result), exit(1);  \
  } while (0)

enum { EVENTS = 4, RUNS = 9, TASKS = 20000, BYTES = 4096 };

static const char *const modes[] = {
    "no stream-ordered memory",
    "an allocation of each stream",
    "the same, reuse policies off",
    "allocated and freed at once",
    "allocated by another stream, each waits for it",
    "allocated by another stream, the host waits for it",
    "cuMemAlloc",
    "an allocation of each stream, then cuCtxSynchronize",
    "allocated by another stream, the host waits, freed on its own stream",
    "freed by another stream, which waits for it",
    "freed and allocated by another stream, and each waits for the other",
    "the same, by way of a third stream",
};

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1e9 + time.tv_nsec;
}

// `to` waits for all work of `from`.
static void order(CUstream from, CUstream to, CUevent event) {
  CK(cuEventRecord(event, from));
  CK(cuStreamWaitEvent(to, event, 0));
}

static void allocate(int mode, CUmemoryPool pool, CUstream stream, CUstream other, CUstream third, CUevent event) {
  CUdeviceptr memory;
  switch (mode) {
    case 1: case 2: case 7:
      CK(cuMemAllocFromPoolAsync(&memory, BYTES, pool, stream));
      break;
    case 3:
      CK(cuMemAllocFromPoolAsync(&memory, BYTES, pool, stream));
      CK(cuMemFreeAsync(memory, stream));
      break;
    case 4:
      CK(cuMemAllocFromPoolAsync(&memory, BYTES, pool, other));
      order(other, stream, event);
      break;
    case 5: case 8:
      CK(cuMemAllocFromPoolAsync(&memory, BYTES, pool, other));
      CK(cuStreamSynchronize(other));
      if (mode == 8) CK(cuMemFreeAsync(memory, stream));
      break;
    case 9: case 10: case 11:
      CK(cuMemAllocFromPoolAsync(&memory, BYTES, pool, other));
      CK(cuStreamSynchronize(other));
      order(stream, other, event);
      CK(cuMemFreeAsync(memory, other));
      if (mode == 9) break;
      CK(cuMemAllocFromPoolAsync(&memory, BYTES, pool, other));
      if (mode == 11) order(other, third, event);
      order(mode == 11 ? third : other, stream, event);
      break;
    case 6:
      CK(cuMemAlloc(&memory, BYTES));
      break;
  }
}

int main(int count, char **arguments) {
  if (count != 3) return fprintf(stderr, "usage: pool_history MODE STREAMS\n"), 2;
  int mode = atoi(arguments[1]), n = atoi(arguments[2]);
  if (mode < 0 || mode > 11 || n < 16) return fprintf(stderr, "a mode from 0 to 11, and at least 16 streams\n"), 2;
  CUdevice device;
  CUcontext context;
  CK(cuInit(0));
  CK(cuDeviceGet(&device, 0));
  CK(cuDevicePrimaryCtxRetain(&context, device));
  CK(cuCtxSetCurrent(context));

  CUmemPoolProps properties = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED, .location.type = CU_MEM_LOCATION_TYPE_DEVICE};
  CUmemoryPool pool;
  uint64_t all = ~0ull;
  CK(cuMemPoolCreate(&pool, &properties));
  CK(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &all));
  if (mode == 2) {
    int off = 0;
    CK(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES, &off));
    CK(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC, &off));
    CK(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES, &off));
  }

  CUstream other, third, *streams = malloc(n * sizeof *streams);
  CUevent event, *events = malloc(n * EVENTS * sizeof *events);
  if (!streams || !events) return fprintf(stderr, "no memory\n"), 1;
  CK(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
  CK(cuStreamCreate(&third, CU_STREAM_NON_BLOCKING));
  CK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
  for (int i = 0; i < n; i++) CK(cuStreamCreate(&streams[i], CU_STREAM_NON_BLOCKING));
  for (int i = 0; i < n * EVENTS; i++) CK(cuEventCreate(&events[i], CU_EVENT_DISABLE_TIMING));
  for (int i = 0; i < n; i++) allocate(mode, pool, streams[i], other, third, event);
  if (mode == 7) CK(cuCtxSynchronize());

  double best[2] = {1e18, 1e18};
  for (int pattern = 0; pattern < 2; pattern++)
    for (int run = 0; run <= RUNS; run++) {
      int ticks = TASKS / n;
      double begin = now();
      for (int tick = 0; tick < ticks; tick++)
        for (int i = 0; i < n; i++) {
          int from = pattern == 0 ? i - 1 : (i + n - 16) % n, of = pattern == 0 || i >= 16 ? tick : tick - 1;
          if (from >= 0 && of >= 0) CK(cuStreamWaitEvent(streams[i], events[from * EVENTS + of % EVENTS], 0));
          CK(cuEventRecord(events[i * EVENTS + tick % EVENTS], streams[i]));
        }
      double each = (now() - begin) / ticks / n;
      CK(cuCtxSynchronize());
      // The first run warms up.
      if (run > 0 && each < best[pattern]) best[pattern] = each;
    }
  printf("%3d streams: %5.0f, %5.0f ns  %s\n", n, best[0], best[1], modes[mode]);
  return 0;
}
