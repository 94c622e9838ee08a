// The start of each CUDA body of this folder: the words of the generator, and how the values of a sequence are written.
// `T` is their type.

// The words of Philox4x32-10 at a counter (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011).
auto words = [seed](unsigned long long counter, unsigned long long sequence) {
    uint4 c = make_uint4((unsigned int)counter, (unsigned int)(counter >> 32), (unsigned int)sequence, 0u);
    unsigned int k0 = (unsigned int)seed, k1 = (unsigned int)(seed >> 32);
    for (int i = 0; i < 10; i++) {
        unsigned int high0 = __umulhi(0xD2511F53u, c.x), low0 = 0xD2511F53u * c.x;
        unsigned int high1 = __umulhi(0xCD9E8D57u, c.z), low1 = 0xCD9E8D57u * c.z;
        c = make_uint4(high1 ^ c.y ^ k0, low1, high0 ^ c.w ^ k1, low0);
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    return c;
};

// A sequence gives four values in each round. Group `i` of `out` has those of one sequence.
const unsigned long long begin = place / 4, skipped = place % 4;
const unsigned long long groups = (skipped + out_len + 3) / 4;
auto sequence = [begin](unsigned long long i) { return (begin + i) % 65536; };
auto rounds = [begin](unsigned long long i) { return (begin + i) / 65536; };

// Writes a group. The first and the last one may reach beyond `out`; an index before it wraps around.
auto write = [&](unsigned long long i, T a, T b, T c, T d) {
    const unsigned long long at = 4 * i - skipped;
    if (at < out_len) out[at] = a;
    if (at + 1 < out_len) out[at + 1] = b;
    if (at + 2 < out_len) out[at + 2] = c;
    if (at + 3 < out_len) out[at + 3] = d;
};
