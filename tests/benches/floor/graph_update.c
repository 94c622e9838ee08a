// What a tick costs the host as a launched graph whose scalars change, beside its launches one by one.
//
// nvcc -O2 -x c graph_update.c -o graph_update -lcuda; for kernels in 4 20 100; do ./graph_update $kernels 4; done
//
// A tick has so many kernels, each of which adds its scalar to the number of the kernel before, on one stream: a chain.
// There are so many executables, each with memory and a stream of its own, which ticks use in turn. The forms are run in
// turns: in each form a tick is `launches` (a launch for each kernel), or one launch of a graph, of which a change is
//   nothing      no scalar changes: the floor
//   one set      cuGraphExecKernelNodeSetParams for the node whose scalar has changed
//   all set      the same for each node
//   one updated  cuGraphExecUpdate from a graph of which cuGraphKernelNodeSetParams has set that node
//   captured     the launches are captured, and cuGraphExecUpdate takes the graph over
// Each line has the host's time of a tick while ticks are queued, the time with the device's, and the time of a tick alone
// until the host has its result, in microseconds: medians of 15 turns of 400 ticks. After each turn the results of all
// executables are compared with the host's, so that a change which is not made, or comes too late, ends the program.
// To decide: an update pays where its host and its lone time are below those of `launches`.
#include <cuda.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define CK(call)                                                              \
  do {                                                                        \
    CUresult result = (call);                                                 \
    if (result) fprintf(stderr, "%s returned %d\n", #call, result), exit(1);  \
  } while (0)

enum { TURNS = 15, TICKS = 400, LONE = 40, MOST_KERNELS = 1000, MOST_EXECS = 16 };
enum form { LAUNCHES, NOTHING, ONE_SET, ALL_SET, ONE_UPDATED, CAPTURED, FORMS };

static const char *const names[FORMS] = {"launches", "nothing", "one set", "all set", "one updated", "captured"};

// sum[0] = the sum before (0 for the first kernel) + scalar.
static const char ptx[] =
    ".version 7.0\n.target sm_75\n.address_size 64\n"
    ".visible .entry add(.param .u64 to, .param .u64 from, .param .u32 scalar)\n"
    "{\n"
    "  .reg .pred %first;\n  .reg .b32 %value, %more;\n  .reg .b64 %to, %from;\n"
    "  ld.param.u64 %to, [to];\n  ld.param.u64 %from, [from];\n  ld.param.u32 %more, [scalar];\n"
    "  mov.u32 %value, 0;\n  setp.eq.u64 %first, %from, 0;\n  @%first bra begun;\n"
    "  ld.global.u32 %value, [%from];\n"
    "begun:\n  add.u32 %value, %value, %more;\n  st.global.u32 [%to], %value;\n  ret;\n}\n";

struct args {
  CUdeviceptr to, from;
  uint32_t scalar;
};

// An executable, and what its tick works on.
struct rotation {
  CUstream stream;
  CUevent done;
  CUdeviceptr numbers;
  uint32_t *result;
  CUgraph graph;
  CUgraphExec exec;
  CUgraphNode nodes[MOST_KERNELS];
  struct args args[MOST_KERNELS];
};

static CUfunction add;
static int kernels, execs;
static struct rotation rotations[MOST_EXECS];

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1e6 + time.tv_nsec / 1e3;
}

static CUDA_KERNEL_NODE_PARAMS node_params(struct args *args, void **list) {
  CUDA_KERNEL_NODE_PARAMS params;
  memset(&params, 0, sizeof params);
  list[0] = &args->to, list[1] = &args->from, list[2] = &args->scalar;
  params.func = add;
  params.gridDimX = params.gridDimY = params.gridDimZ = 1;
  params.blockDimX = params.blockDimY = params.blockDimZ = 1;
  params.kernelParams = list;
  return params;
}

static void launch_each(struct rotation *it) {
  for (int i = 0; i < kernels; i++) {
    void *list[] = {&it->args[i].to, &it->args[i].from, &it->args[i].scalar};
    CK(cuLaunchKernel(add, 1, 1, 1, 1, 1, 1, 0, it->stream, list, NULL));
  }
}

static void update(struct rotation *it, CUgraph from) {
  CUgraphExecUpdateResultInfo info;
  CK(cuGraphExecUpdate(it->exec, from, &info));
}

// Queues a tick whose changing node has this scalar.
static void tick(enum form form, struct rotation *it, int changing, uint32_t scalar) {
  void *list[3];
  if (form != NOTHING) it->args[changing].scalar = scalar;
  switch (form) {
    case LAUNCHES:
      launch_each(it);
      return;
    case ONE_SET: {
      CUDA_KERNEL_NODE_PARAMS params = node_params(&it->args[changing], list);
      CK(cuGraphExecKernelNodeSetParams(it->exec, it->nodes[changing], &params));
      break;
    }
    case ALL_SET:
      for (int i = 0; i < kernels; i++) {
        CUDA_KERNEL_NODE_PARAMS params = node_params(&it->args[i], list);
        CK(cuGraphExecKernelNodeSetParams(it->exec, it->nodes[i], &params));
      }
      break;
    case ONE_UPDATED: {
      CUDA_KERNEL_NODE_PARAMS params = node_params(&it->args[changing], list);
      CK(cuGraphKernelNodeSetParams(it->nodes[changing], &params));
      update(it, it->graph);
      break;
    }
    case CAPTURED: {
      CUgraph captured;
      CK(cuStreamBeginCapture(it->stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
      launch_each(it);
      CK(cuStreamEndCapture(it->stream, &captured));
      update(it, captured);
      CK(cuGraphDestroy(captured));
      break;
    }
    default:
      break;
  }
  CK(cuGraphLaunch(it->exec, it->stream));
}

static void make(struct rotation *it, int number) {
  CK(cuStreamCreate(&it->stream, CU_STREAM_NON_BLOCKING));
  CK(cuEventCreate(&it->done, CU_EVENT_DISABLE_TIMING));
  CK(cuMemAlloc(&it->numbers, 4 * kernels));
  CK(cuMemAllocHost((void **)&it->result, 4));
  CK(cuGraphCreate(&it->graph, 0));
  for (int i = 0; i < kernels; i++) {
    CUdeviceptr to = it->numbers + 4 * i;
    it->args[i] = (struct args){to, i == 0 ? 0 : to - 4, 1000 * number + i};
    void *list[3];
    CUDA_KERNEL_NODE_PARAMS params = node_params(&it->args[i], list);
    CK(cuGraphAddKernelNode(&it->nodes[i], it->graph, i == 0 ? NULL : &it->nodes[i - 1], i > 0, &params));
  }
  CK(cuGraphInstantiate(&it->exec, it->graph, 0));
}

// The result of an executable's last tick must be the sum of its scalars.
static void compare(enum form form) {
  for (int e = 0; e < execs; e++) {
    struct rotation *it = &rotations[e];
    uint32_t sum = 0;
    for (int i = 0; i < kernels; i++) sum += it->args[i].scalar;
    CK(cuMemcpyDtoHAsync(it->result, it->numbers + 4 * (kernels - 1), 4, it->stream));
    CK(cuStreamSynchronize(it->stream));
    if (*it->result != sum) fprintf(stderr, "%s: %u, not %u\n", names[form], *it->result, sum), exit(1);
  }
}

static int by_size(const void *one, const void *other) {
  double a = *(const double *)one, b = *(const double *)other;
  return (a > b) - (a < b);
}

static double median(double *values, int count) {
  qsort(values, count, sizeof *values, by_size);
  return values[count / 2];
}

int main(int count, char **arguments) {
  if (count != 3) return fprintf(stderr, "usage: graph_update KERNELS EXECUTABLES\n"), 2;
  kernels = atoi(arguments[1]), execs = atoi(arguments[2]);
  if (kernels < 1 || kernels > MOST_KERNELS || execs < 1 || execs > MOST_EXECS)
    return fprintf(stderr, "1 to %d kernels, and 1 to %d executables\n", MOST_KERNELS, MOST_EXECS), 2;
  CUdevice device;
  CUcontext context;
  CUmodule module;
  CK(cuInit(0));
  CK(cuDeviceGet(&device, 0));
  CK(cuDevicePrimaryCtxRetain(&context, device));
  CK(cuCtxSetCurrent(context));
  CK(cuModuleLoadData(&module, ptx));
  CK(cuModuleGetFunction(&add, module, "add"));
  for (int e = 0; e < execs; e++) make(&rotations[e], e);

  static double host[FORMS][TURNS], wall[FORMS][TURNS], lone[FORMS][TURNS * LONE];
  uint32_t scalar = 1;
  for (int turn = -1; turn < TURNS; turn++)
    for (int place = 0; place < FORMS; place++) {
      enum form form = (turn + 1 + place) % FORMS;
      int changing = kernels / 2;
      // An executable has the scalars of the last form that has set them.
      for (int e = 0; e < execs; e++) tick(ALL_SET, &rotations[e], changing, scalar++);
      CK(cuCtxSynchronize());
      double begin = now();
      for (int i = 0; i < TICKS; i++) tick(form, &rotations[i % execs], changing, scalar++);
      double queued = now();
      CK(cuCtxSynchronize());
      double end = now();
      compare(form);
      for (int i = 0; i < LONE; i++) {
        struct rotation *it = &rotations[i % execs];
        double start = now();
        tick(form, it, changing, scalar++);
        CK(cuEventRecord(it->done, it->stream));
        CK(cuEventSynchronize(it->done));
        if (turn >= 0) lone[form][turn * LONE + i] = now() - start;
      }
      compare(form);
      // The first turn warms up.
      if (turn >= 0) host[form][turn] = (queued - begin) / TICKS, wall[form][turn] = (end - begin) / TICKS;
    }
  printf("%d kernels, %d executables: us of a tick\n", kernels, execs);
  for (int form = 0; form < FORMS; form++)
    printf("%-12s host %8.2f  wall %8.2f  alone %8.2f\n", names[form], median(host[form], TURNS), median(wall[form], TURNS),
           median(lone[form], TURNS * LONE));
  return 0;
}
