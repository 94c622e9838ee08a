// The threads of a block, one after the other, each until it waits for others: behind `shim.hpp`, and before the kernels.
#define __shared__ static

static const unsigned int THREADS = 256, WARP = 32;
struct Thread {
    ucontext_t context;
    std::vector<char> stack = std::vector<char>(1 << 16);
    bool is_done;
};
static std::vector<Thread> threads(THREADS);
static ucontext_t scheduler;
static std::function<void()> body;
/// How many threads of each warp, and of the block, have come to a place where they wait for each other.
static unsigned long long of_warp[THREADS / WARP], of_block;
static unsigned int shuffled[THREADS];

static void meet(unsigned long long& count, unsigned int all) {
    const unsigned long long next = (count++ / all + 1) * all;
    while (count < next) swapcontext(&threads[threadIdx.x].context, &scheduler);
}
static void __syncthreads() { meet(of_block, THREADS); }
/// The value of another thread of the warp.
static unsigned int of_thread(unsigned int value, unsigned int other) {
    const unsigned int thread = threadIdx.x;
    shuffled[thread] = value;
    meet(of_warp[thread / WARP], WARP);
    const unsigned int found = shuffled[other];
    meet(of_warp[thread / WARP], WARP);
    return found;
}
static unsigned int __shfl_down_sync(unsigned int, unsigned int value, unsigned int by) {
    return of_thread(value, threadIdx.x % WARP + by < WARP ? threadIdx.x + by : threadIdx.x);
}
static unsigned int __shfl_up_sync(unsigned int, unsigned int value, unsigned int by) {
    return of_thread(value, threadIdx.x % WARP >= by ? threadIdx.x - by : threadIdx.x);
}
static unsigned int __shfl_sync(unsigned int, unsigned int value, unsigned int lane) {
    return of_thread(value, threadIdx.x / WARP * WARP + lane);
}
static unsigned long long atomicAdd(unsigned long long* to, unsigned long long by) {
    const unsigned long long old = *to;
    *to += by;
    return old;
}
struct alignas(16) uint4 {
    unsigned int x, y, z, w;
};
static uint4 __ldcs(const void* from) {
    uint4 value;
    memcpy(&value, from, sizeof(value));
    return value;
}
static void __stcs(void* to, uint4 value) { memcpy(to, &value, sizeof(value)); }
static void enter() {
    body();
    threads[threadIdx.x].is_done = true;
    swapcontext(&threads[threadIdx.x].context, &scheduler);
}
/// Runs all threads of a block. A block in which threads wait for others that are done does not end.
static void run_block(unsigned int block) {
    blockIdx.x = block;
    of_block = 0;
    for (auto& count : of_warp) count = 0;
    for (Thread& thread : threads) {
        getcontext(&thread.context);
        thread.context.uc_stack.ss_sp = thread.stack.data();
        thread.context.uc_stack.ss_size = thread.stack.size();
        thread.context.uc_link = nullptr;
        thread.is_done = false;
        makecontext(&thread.context, enter, 0);
    }
    for (bool is_running = true; is_running;) {
        is_running = false;
        for (unsigned int number = 0; number < THREADS; ++number) {
            if (threads[number].is_done) continue;
            is_running = true;
            threadIdx.x = number;
            swapcontext(&scheduler, &threads[number].context);
        }
    }
}

/// The blocks of launches with these parameters of 16 bytes each.
static unsigned long long product(const unsigned long long* params, int first) {
    unsigned long long all = 1;
    for (int dim = first; dim < first + 4; ++dim) all *= params[2 * dim];
    return all;
}
static unsigned long long blocks_of_reduction(const unsigned long long* params) {
    const unsigned long long rows = product(params, 14), parts = params[2 * 23], form = params[2 * 25] % 4;
    return form == 0 ? (rows + 255) / 256 : form == 1 ? (rows + 7) / 8 : form == 2 ? rows * parts : (rows * parts + 255) / 256;
}
static unsigned long long blocks_of_scan(const unsigned long long* params) {
    const unsigned long long rows = product(params, 14), tiles = params[2 * 27], form = params[2 * 28];
    // The largest value has four words.
    const unsigned long long numbers = 4 * rows * (tiles + (tiles + 31) / 32 + (tiles + 1023) / 1024) + 1;
    return form == 0 ? (rows + 255) / 256 : form == 1 ? (rows + 7) / 8 : form == 2 ? rows * tiles : (numbers + 255) / 256;
}
static void run(unsigned long long blocks, const std::function<void()>& kernel) {
    body = kernel;
    for (unsigned long long block = 0; block < blocks; ++block) run_block((unsigned int)block);
}
