    // A warp converts 128 columns of two rows: it copies the samples to shared memory, each lane computes four columns, and the
    // results go from shared memory to the output, so that both sides use whole words.
    __shared__ alignas(16) A read[4][3][512];
    __shared__ alignas(16) B written[4][3][512];
    const unsigned int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    const unsigned long long columns = (width + 127) / 128, task = thread_index() / 32;
    const unsigned long long x0 = task % columns * 128, y0 = task / columns * 2;
    if (y0 >= height) return;
    const unsigned int count = width - x0 < 128 ? (unsigned int)(width - x0) : 128;
    const unsigned int rows = height - y0 < 2 ? 1 : 2;
    auto samples = [](unsigned int layout) -> unsigned int {
        return layout == 1 || layout == 2 ? 3 : layout == 3 ? 4 : layout == 6 ? 2 : 1;
    };
    const unsigned int from = samples(source), to = samples(target);
    auto copy = [&](void* target, const void* source, unsigned int count, unsigned int size) {
        const unsigned int bytes = count * size;
        const unsigned long long places = (unsigned long long)target | (unsigned long long)source;
        unsigned int done = 0;
        if (places % 16 == 0) {
            for (unsigned int i = lane; i < bytes / 16; i += 32) ((uint4*)target)[i] = ((const uint4*)source)[i];
            done = bytes / 16 * 16;
        } else if (places % 4 == 0) {
            for (unsigned int i = lane; i < bytes / 4; i += 32) ((unsigned int*)target)[i] = ((const unsigned int*)source)[i];
            done = bytes / 4 * 4;
        } else if (size == 2) {
            for (unsigned int i = lane; i < count; i += 32) ((unsigned short*)target)[i] = ((const unsigned short*)source)[i];
            done = bytes;
        }
        for (unsigned int i = done + lane; i < bytes; i += 32) ((unsigned char*)target)[i] = ((const unsigned char*)source)[i];
    };
    const bool has_chroma = source >= 4 && source <= 6;
    const A* const chroma_rows = image + height * pitch;
    for (unsigned int r = 0; r < rows && source != 7; ++r) {
        copy(read[warp][r], image + (y0 + r) * pitch + x0 * from, count * from, sizeof(A));
    }
    if (source == 4 && siting == 0) copy(read[warp][2], chroma_rows + y0 / 2 * pitch + x0, count, sizeof(A));
    __syncwarp();

    // A sample of chroma, in the columns and rows of its plane.
    auto chroma = [&](long long x, long long y, unsigned int which) -> float {
        const long long last_x = width / 2 - 1, last_y = source == 6 ? height - 1 : height / 2 - 1;
        x = x < 0 ? 0 : x > last_x ? last_x : x;
        y = y < 0 ? 0 : y > last_y ? last_y : y;
        if (source == 4) return chroma_rows[y * pitch + 2 * x + which];
        if (source == 5) return chroma_rows[(which * (height / 2) + y) * (pitch / 2) + x];
        return image[y * pitch + 4 * x + 1 + 2 * which];
    };
    // A sample of a sensor; beyond the edge it is the one that the edge mirrors.
    auto sensor = [&](long long x, long long y) -> float {
        const long long w = width, h = height;
        x = x < 0 ? -x : x >= w ? 2 * w - 2 - x : x;
        y = y < 0 ? -y : y >= h ? 2 * h - 2 - y : y;
        return image[(y < 0 ? 0 : y) * pitch + (x < 0 ? 0 : x)];
    };
    // The three numbers of a pixel in the target's colours. `at` is the pixel's first sample.
    float opacity = 0.0f;
    auto fetch = [&](const A* at, const A* shared, long long x, long long y, float (&c)[3]) {
        float s0 = 0.0f, s1 = 0.0f, s2 = 0.0f;
        if (source == 7) {
            const bool odd_x = (x ^ (long long)red_x) & 1, odd_y = (y ^ (long long)red_y) & 1;
            const float own = sensor(x, y), sides = sensor(x - 1, y) + sensor(x + 1, y);
            const float ends = sensor(x, y - 1) + sensor(x, y + 1);
            if (odd_x == odd_y) {
                const float corners = sensor(x - 1, y - 1) + sensor(x + 1, y - 1) + sensor(x - 1, y + 1) + sensor(x + 1, y + 1);
                s0 = odd_x ? corners * 0.25f : own;
                s1 = (sides + ends) * 0.25f;
                s2 = odd_x ? own : corners * 0.25f;
            } else {
                s0 = (odd_y ? ends : sides) * 0.5f;
                s1 = own;
                s2 = (odd_y ? sides : ends) * 0.5f;
            }
        } else if (has_chroma) {
            s0 = at[0];
            if (siting == 0) {
                if (source == 4 && shared) {
                    s1 = shared[0];
                    s2 = shared[1];
                } else {
                    s1 = chroma(x / 2, source == 6 ? y : y / 2, 0);
                    s2 = chroma(x / 2, source == 6 ? y : y / 2, 1);
                }
            } else {
                // In quarters: where the pixel is between two samples.
                const long long from_x = 2 * x - (siting == 1 ? 1 : 0), from_y = source == 6 ? 4 * y : 2 * y - (siting == 3 ? 0 : 1);
                const long long i = from_x >> 2, j = from_y >> 2;
                const float fx = (from_x & 3) * 0.25f, fy = (from_y & 3) * 0.25f;
                float s[2];
                for (unsigned int which = 0; which < 2; ++which) {
                    const float a = chroma(i, j, which), b = chroma(i + 1, j, which);
                    const float d = chroma(i, j + 1, which), e = chroma(i + 1, j + 1, which);
                    const float above = __fmaf_rn(fx, b - a, a), below = __fmaf_rn(fx, e - d, d);
                    s[which] = __fmaf_rn(fy, below - above, above);
                }
                s1 = s[0];
                s2 = s[1];
            }
        } else if (source == 0) {
            s0 = s1 = s2 = at[0];
        } else {
            s0 = at[source == 2 ? 2 : 0];
            s1 = at[1];
            s2 = at[source == 2 ? 0 : 2];
            if (source == 3) opacity = at[3];
        }
        c[0] = __fmaf_rn(m00, s0, __fmaf_rn(m01, s1, __fmaf_rn(m02, s2, o0)));
        c[1] = __fmaf_rn(m10, s0, __fmaf_rn(m11, s1, __fmaf_rn(m12, s2, o1)));
        c[2] = __fmaf_rn(m20, s0, __fmaf_rn(m21, s1, __fmaf_rn(m22, s2, o2)));
    };
    // The numbers of any pixel of the image; beyond the edge those of the nearest one.
    auto fetch_at = [&](long long x, long long y, float (&c)[3]) {
        x = x < 0 ? 0 : x >= (long long)width ? width - 1 : x;
        y = y < 0 ? 0 : y >= (long long)height ? height - 1 : y;
        fetch(image + y * pitch + x * from, nullptr, x, y, c);
    };
    auto code = [&](float value) -> B {
        return whole ? (B)(fminf(fmaxf(rintf(value), 0.0f), limit) * step) : (B)value;
    };

    float c[2][4][3];
    for (unsigned int r = 0; r < rows; ++r) {
        #pragma unroll
        for (unsigned int i = 0; i < 4; ++i) {
            const unsigned int x = lane * 4 + i;
            if (x >= count) break;
            fetch(&read[warp][r][x * from], &read[warp][2][x / 2 * 2], x0 + x, y0 + r, c[r][i]);
            B* const at = &written[warp][r][x * to];
            if (target == 1 || target == 2 || target == 3) {
                at[target == 2 ? 2 : 0] = code(c[r][i][0]);
                at[1] = code(c[r][i][1]);
                at[target == 2 ? 0 : 2] = code(c[r][i][2]);
                if (target == 3) at[3] = source == 3 ? code(opacity * opacity_scale) : (B)limit;
            } else {
                at[0] = code(c[r][i][0]);
            }
        }
    }
    if (target >= 4 && target <= 6) {
        const bool is_420 = target != 6;
        for (unsigned int r = 0; r < (is_420 ? 1 : rows); ++r) {
            #pragma unroll
            for (unsigned int i = 0; i < 4; i += 2) {
                const unsigned int x = lane * 4 + i;
                if (x >= count) break;
                B pair[2];
                if (target_siting < 2) {
                    for (unsigned int k = 1; k < 3; ++k) {
                        const float above = c[r][i][k] + c[r][i + 1][k];
                        pair[k - 1] = is_420 ? code((above + (c[1][i][k] + c[1][i + 1][k])) * 0.25f) : code(above * 0.5f);
                    }
                } else {
                    // The rows and columns around the place, with weights of a triangle.
                    float sum[2] = {0.0f, 0.0f}, all = 0.0f;
                    const int first = is_420 && target_siting == 3 ? -1 : 0, last = is_420 ? 1 : 0;
                    for (int dy = first; dy <= last; ++dy) {
                        for (int dx = -1; dx <= 1; ++dx) {
                            const float weight = (dx == 0 ? 2.0f : 1.0f) * (first < 0 && dy == 0 ? 2.0f : 1.0f);
                            float d[3];
                            fetch_at(x0 + x + dx, y0 + r + dy, d);
                            sum[0] = __fmaf_rn(weight, d[1], sum[0]);
                            sum[1] = __fmaf_rn(weight, d[2], sum[1]);
                            all += weight;
                        }
                    }
                    pair[0] = code(sum[0] / all);
                    pair[1] = code(sum[1] / all);
                }
                const unsigned long long column = (x0 + x) / 2;
                if (target == 6) {
                    written[warp][r][2 * x + 1] = pair[0];
                    written[warp][r][2 * x + 3] = pair[1];
                } else if (target == 4) {
                    written[warp][2][x] = pair[0];
                    written[warp][2][x + 1] = pair[1];
                } else {
                    B* const planes = out + height * out_pitch;
                    planes[y0 / 2 * (out_pitch / 2) + column] = pair[0];
                    planes[(height / 2 + y0 / 2) * (out_pitch / 2) + column] = pair[1];
                }
            }
        }
    }
    __syncwarp();
    for (unsigned int r = 0; r < rows; ++r) {
        copy(out + (y0 + r) * out_pitch + x0 * to, written[warp][r], count * to, sizeof(B));
    }
    if (target == 4) copy(out + (height + y0 / 2) * out_pitch + x0, written[warp][2], count, sizeof(B));
