// Task graphs wired by hand with CUDA's driver API, as a library that the benchmark `floor` compiles with nvcc and takes
// turns with: streams, events without times, two buffers of each kind in turn. The parameters of a launch are laid out
// before, so that a tick makes the calls of the driver and little else.
//
// The benchmark gives the tasks with their waits, and the kernels as the code that streamflow has compiled.
#include <cuda.h>

#include <cstdint>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

// With a name, since nvcc hides functions that have a type without one.
namespace by_hand {

constexpr int SLOTS = 2, MOST_ARGUMENTS = 8;

thread_local std::string error;

void check(CUresult result, const char* call) {
  if (result == CUDA_SUCCESS) return;
  const char* name = nullptr;
  cuGetErrorName(result, &name);
  throw std::runtime_error(std::string(call) + " returned " + (name ? name : "an unknown error"));
}
#define CHECK(call) check(call, #call)

// What an argument of a kernel is: the address of a buffer, a value, `value ^ (tick + salt)`, a value that 8 ticks
// distinguish, how many cycles a kernel is late, or `value ^ salt`.
enum Kind : int32_t { BUFFER, VALUE, TICK_BITS, TICK_START, LATE, SALT_BITS };

struct Argument {
  int32_t kind;
  uint64_t value;
};

struct Buffer {
  size_t bytes;
  CUdeviceptr memory[SLOTS];
};

struct Launch {
  CUfunction function;
  unsigned blocks, threads;
  int count = 0;
  Argument arguments[MOST_ARGUMENTS];
  uint64_t values[SLOTS][MOST_ARGUMENTS];
  void* pointers[SLOTS][MOST_ARGUMENTS];
  int of_tick = -1;  // the argument that differs from tick to tick, or from salt to salt
};

struct Download {
  int buffer;
  bool in_each_tick;
  void* host[SLOTS];
};

struct Task {
  CUstream stream;
  std::vector<int> waits;
  std::vector<std::unique_ptr<Launch>> launches;
  std::vector<int> downloads;
  bool records;
  CUevent done[SLOTS];
};

struct Program {
  CUdevice device;
  CUcontext context = nullptr;
  std::vector<CUmodule> modules;
  std::vector<CUfunction> functions;
  std::vector<CUstream> streams;
  std::vector<Buffer> buffers;
  std::vector<Download> downloads;
  std::vector<Task> tasks;
  std::vector<CUstream> ends;  // those with downloads
  bool waits = true;
  int last_slot = 0;

  explicit Program(int ordinal) {
    CHECK(cuInit(0));
    CHECK(cuDeviceGet(&device, ordinal));
    CHECK(cuDevicePrimaryCtxRetain(&context, device));
    CHECK(cuCtxSetCurrent(context));
  }

  ~Program() {
    if (!context) return;
    // The results are for a process that ends or has failed: nothing is left to do about an error here.
    cuCtxSetCurrent(context);
    cuCtxSynchronize();
    for (auto& task : tasks)
      for (auto event : task.done)
        if (task.records) cuEventDestroy(event);
    for (auto& buffer : buffers)
      for (auto memory : buffer.memory) cuMemFree(memory);
    for (auto& download : downloads)
      for (auto host : download.host) cuMemFreeHost(host);
    for (auto stream : streams) cuStreamDestroy(stream);
    for (auto module : modules) cuModuleUnload(module);
    cuDevicePrimaryCtxRelease(device);
  }

  void make_streams(int count) {
    streams.resize(count);
    for (auto& stream : streams) CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  }

  int add_function(const void* image, const char* name) {
    CUmodule module;
    CUfunction function;
    CHECK(cuModuleLoadDataEx(&module, image, 0, nullptr, nullptr));
    modules.push_back(module);
    CHECK(cuModuleGetFunction(&function, module, name));
    functions.push_back(function);
    return static_cast<int>(functions.size()) - 1;
  }

  int add_buffer(size_t bytes) {
    Buffer buffer{bytes, {}};
    for (auto& memory : buffer.memory) CHECK(cuMemAlloc(&memory, bytes));
    buffers.push_back(buffer);
    return static_cast<int>(buffers.size()) - 1;
  }

  int add_task(int stream, bool records, const int* waits_for, int count) {
    Task task{streams.at(stream), {waits_for, waits_for + count}, {}, {}, records, {}};
    if (records)
      for (auto& event : task.done) CHECK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    tasks.push_back(std::move(task));
    return static_cast<int>(tasks.size()) - 1;
  }

  void add_launch(int task, int function, unsigned blocks, unsigned threads, const Argument* arguments, int count) {
    if (count > MOST_ARGUMENTS) throw std::runtime_error("a launch has too many arguments");
    auto launch = std::make_unique<Launch>();
    launch->function = functions.at(function);
    launch->blocks = blocks, launch->threads = threads, launch->count = count;
    for (int i = 0; i < count; i++) {
      launch->arguments[i] = arguments[i];
      bool is_buffer = arguments[i].kind == BUFFER, is_of_tick = arguments[i].kind == TICK_BITS || arguments[i].kind == TICK_START || arguments[i].kind == SALT_BITS;
      if (is_of_tick) launch->of_tick = i;
      for (int slot = 0; slot < SLOTS; slot++) {
        launch->values[slot][i] = is_buffer ? buffers.at(arguments[i].value).memory[slot] : arguments[i].kind == LATE ? 0 : arguments[i].value;
        launch->pointers[slot][i] = &launch->values[slot][i];
      }
    }
    tasks.at(task).launches.push_back(std::move(launch));
  }

  int add_download(int task, int buffer, bool in_each_tick) {
    Download download{buffer, in_each_tick, {}};
    for (auto& host : download.host) CHECK(cuMemAllocHost(&host, buffers.at(buffer).bytes));
    downloads.push_back(download);
    Task& end = tasks.at(task);
    end.downloads.push_back(static_cast<int>(downloads.size()) - 1);
    if (ends.empty() || ends.back() != end.stream) ends.push_back(end.stream);
    return static_cast<int>(downloads.size()) - 1;
  }

  void set_late(uint64_t cycles) {
    for (auto& task : tasks)
      for (auto& launch : task.launches)
        for (int i = 0; i < launch->count; i++)
          if (launch->arguments[i].kind == LATE)
            for (auto& values : launch->values) values[i] = cycles;
  }

  void tick(uint64_t tick, uint32_t salt, bool kernels, bool keep) {
    int slot = tick % SLOTS;
    last_slot = slot;
    for (auto& task : tasks) {
      CUstream stream = task.stream;
      if (waits)
        for (int other : task.waits) CHECK(cuStreamWaitEvent(stream, tasks[other].done[slot], 0));
      if (kernels) {
        for (auto& owned : task.launches) {
          Launch& launch = *owned;
          if (launch.of_tick >= 0) {
            const Argument& argument = launch.arguments[launch.of_tick];
            uint32_t bits = static_cast<uint32_t>(tick) + salt;
            if (argument.kind == SALT_BITS) bits = salt;
            if (argument.kind != TICK_START) bits ^= static_cast<uint32_t>(argument.value);
            float start = 0.125f * (bits % 8);
            if (argument.kind == TICK_START) std::memcpy(&bits, &start, sizeof bits);
            launch.values[slot][launch.of_tick] = bits;
          }
          CHECK(cuLaunchKernel(launch.function, launch.blocks, 1, 1, launch.threads, 1, 1, 0, stream, launch.pointers[slot], nullptr));
        }
        for (int index : task.downloads) {
          Download& download = downloads[index];
          const Buffer& from = buffers[download.buffer];
          if (keep || download.in_each_tick)
            CHECK(cuMemcpyDtoHAsync(download.host[slot], from.memory[slot], from.bytes, stream));
        }
      }
      if (task.records) CHECK(cuEventRecord(task.done[slot], stream));
    }
  }

  // Waits until the last downloads have arrived.
  void finish() {
    for (auto stream : ends) CHECK(cuStreamSynchronize(stream));
  }

  // Fills all memory, once nothing uses it, with bytes that no task writes.
  void poison() {
    CHECK(cuCtxSynchronize());
    for (auto& buffer : buffers)
      for (auto memory : buffer.memory) CHECK(cuMemsetD8(memory, 0, buffer.bytes));
    for (auto& download : downloads)
      for (auto host : download.host) std::memset(host, 0, buffers[download.buffer].bytes);
    CHECK(cuCtxSynchronize());
  }
};

// Calls `body`. An error is a null pointer or a negative number, and its text is kept.
template <class Body>
auto guarded(Body body) -> decltype(body()) {
  try {
    return body();
  } catch (const std::exception& failed) {
    error = failed.what();
    return decltype(body())(-1);
  }
}

}  // namespace by_hand

using namespace by_hand;

extern "C" {

const char* floor_error() { return error.c_str(); }

Program* floor_new(int ordinal, int streams) {
  try {
    auto program = std::make_unique<Program>(ordinal);
    program->make_streams(streams);
    return program.release();
  } catch (const std::exception& failed) {
    error = failed.what();
    return nullptr;
  }
}

void floor_drop(Program* program) { delete program; }

int floor_function(Program* program, const void* image, const char* name) {
  return guarded([&] { return program->add_function(image, name); });
}

int floor_buffer(Program* program, size_t bytes) {
  return guarded([&] { return program->add_buffer(bytes); });
}

int floor_task(Program* program, int stream, int records, const int* waits, int count) {
  return guarded([&] { return program->add_task(stream, records, waits, count); });
}

int floor_launch(Program* program, int task, int function, unsigned blocks, unsigned threads, const Argument* arguments, int count) {
  return guarded([&] { return program->add_launch(task, function, blocks, threads, arguments, count), 0; });
}

int floor_download(Program* program, int task, int buffer, int in_each_tick) {
  return guarded([&] { return program->add_download(task, buffer, in_each_tick); });
}

// For a control: without the waits, and with tasks that are late.
int floor_break(Program* program, int waits, uint64_t late_cycles) {
  return guarded([&] { return program->waits = waits, program->set_late(late_cycles), 0; });
}

// Queues ticks. The downloads that a task does not make in each tick are made in the last one, with `keep`.
int floor_queue(Program* program, uint64_t first, uint64_t ticks, uint32_t salt, int kernels, int keep) {
  return guarded([&] {
    CHECK(cuCtxSetCurrent(program->context));
    for (uint64_t tick = first; tick < first + ticks; tick++) program->tick(tick, salt, kernels, keep && tick + 1 == first + ticks);
    return 0;
  });
}

int floor_finish(Program* program) {
  return guarded([&] { return program->finish(), 0; });
}

int floor_poison(Program* program) {
  return guarded([&] {
    CHECK(cuCtxSetCurrent(program->context));
    return program->poison(), 0;
  });
}

// What a download has last brought. It may be read after `floor_finish`.
const void* floor_result(Program* program, int download) { return program->downloads[download].host[program->last_slot]; }
}
