typedef unsigned long long u64;

/// A launch: the number of the code, the number of elements, the shape and the strides of both arguments, and the grid.
struct Case { unsigned int code, count; u64 n[12]; Dim blocks, threads; };
static const Case all_cases[] = {
CASES};

/// The arguments of the codes for views.
#define VIEWS n[0], n[1], n[2], n[3], out, n[4], n[5], n[6], n[7], in.data(), n[8], n[9], n[10], n[11]
/// One kernel for a case, as a thread has it.
#define THREAD(kernel) \
    switch (of.code) { \
        case 0: kernel##_linear(out, of.count, in.data(), of.count); break; \
        case 1: kernel##_flat(VIEWS); break; \
        default: kernel##_strided(VIEWS); \
    }
/// A function that runs both kernels for all cases, and prints the results of each in a line.
#define ALL \
    static void one(const Case& of, const std::vector<unsigned int>& in, unsigned int* out, bool is_brief) { \
        const u64* n = of.n; \
        if (is_brief) { THREAD(brief_kernel) } else { THREAD(lengthy_kernel) } \
    } \
    static void all() { launch_all(one); }

typedef void One(const Case&, const std::vector<unsigned int>&, unsigned int*, bool);

static void launch_all(One* one) {
    std::vector<unsigned int> in(16384);
    for (unsigned int i = 0; i < in.size(); ++i) in[i] = i % 997;
    for (const Case& of : all_cases) {
        for (bool is_brief : {true, false}) {
            // A mistake may write beyond the elements.
            std::vector<unsigned int> out(of.count + 16384, 0xffffffffu);
            const Dim g = gridDim = of.blocks, b = blockDim = of.threads;
            for (blockIdx.z = 0; blockIdx.z < g.z; ++blockIdx.z)
            for (blockIdx.y = 0; blockIdx.y < g.y; ++blockIdx.y)
            for (blockIdx.x = 0; blockIdx.x < g.x; ++blockIdx.x)
            for (threadIdx.z = 0; threadIdx.z < b.z; ++threadIdx.z)
            for (threadIdx.y = 0; threadIdx.y < b.y; ++threadIdx.y)
            for (threadIdx.x = 0; threadIdx.x < b.x; ++threadIdx.x)
                one(of, in, out.data(), is_brief);
            for (unsigned int i = 0; i < of.count; ++i) printf("%u ", out[i]);
            puts("");
        }
    }
}
