// Kernels that run before and after an advance and are the same for every edge program: bitmaps of vertices, in
// which bit v % 64 of word v / 64 belongs to vertex v; sums of degrees; and the culling filter by itself.
#include "common.cuh"
#include "counts.cuh"
#include "cull.cuh"

constexpr u32 WORD = 64;

// List the vertices that are marked. They are in order only within each 32.
template <typename I>
__global__ void list_marked(const bool* marks, u64 count, I* list, u64* tail)
{
    for (u64 first = thread_index() - lane(); first < count; first += thread_count()) {
        const u64 vertex = first + lane();
        append(list, tail, vertex < count && marks[vertex], I(vertex));
    }
}

// Add the number of vertices that are marked to a total.
__global__ void count_true(const bool* marks, u64 count, u64* total)
{
    u64 found = 0;
    in_batches<8>(count, [&](u64 i) { return marks[i]; }, [&](u64, bool marked) { found += marked; });
    found = warp_sum(found);
    if (lane() == 0 && found) atomicAdd(total, found);
}

// Set the bits of some vertices in 32-bit halves of words, because atomics are fastest on 32 bits.
template <typename I>
__global__ void set_words(const I* vertices, u64 count, u32* halves)
{
    for (u64 i = thread_index(); i < count; i += thread_count()) {
        const u64 at = u64(vertices[i]);
        atomicOr(halves + at / 32, 1u << (at % 32));
    }
}

// Count the bits of each word.
__global__ void count_ones(const u64* words, u64 size, i64* ones)
{
    for (u64 i = thread_index(); i < size; i += thread_count()) ones[i] = __popcll(words[i]);
}

// Write the vertices whose bits are set, one warp per word. `ends` contains the running count of set bits, up to and
// including each word.
template <typename I>
__global__ void write_words(const u64* words, u64 size, const i64* ends, I* vertices)
{
    for (u64 i = thread_index() / 32; i < size; i += thread_count() / 32) {
        const u64 word = words[i];
        const u64 from = u64(ends[i]) - __popcll(word);
        for (u32 bit = lane(); bit < WORD; bit += 32)
            if (word >> bit & 1) vertices[from + __popcll(word & ((1ull << bit) - 1))] = I(i * WORD + bit);
    }
}

// Write a zero, followed by the number of edges of each of some rows. Their running sum is the number of edges before
// each row. `begins` and `stops` contain where each row begins and ends.
template <typename I>
__global__ void gather_degrees(const i64* begins, const i64* stops, const I* rows, u64 count, i64* costs)
{
    for (u64 i = thread_index(); i <= count; i += thread_count())
        costs[i] = i ? stops[u64(rows[i - 1])] - begins[u64(rows[i - 1])] : 0;
}

// Pass each vertex of a list through the culling filter. `length` points at their number, which is at most `count`. It
// is null if the number is `count`.
template <typename I>
__global__ void __launch_bounds__(THREADS)
    uniquify(const I* vertices, u64 count, const u64* length, u32* words, u32 stages, I* list, Degrees degrees,
             u64* report)
{
    __shared__ I slots[SLOTS];
    for (u32 i = threadIdx.x; i < SLOTS; i += blockDim.x) slots[i] = I(-1);
    __syncthreads();
    if (length) count = min(count, *length);
    const Culling<I> culling{stages, words, slots};
    Leaving leaving;
    u32 appended = 0;
    for (u64 first = thread_index() - lane(); first < count; first += thread_count()) {
        const bool valid = first + lane() < count;
        const I vertex = valid ? vertices[first + lane()] : I(0);
        const bool kept = culling.keep(valid, vertex);
        leaving.add(degrees, kept, u64(vertex));
        appended += append(list, report + TAIL, kept, vertex);
    }
    if (appended && lane() == 0) atomicAdd(report + APPENDS, u64(appended));
    leaving.report(report);
}

// Count the vertices in a bitmap, and the edges that leave them. One warp per word.
__global__ void tally(const u64* words, u64 size, Degrees degrees, u64* report)
{
    Leaving leaving;
    u64 vertices = 0;
    for (u64 i = thread_index() / 32; i < size; i += thread_count() / 32) {
        const u64 word = words[i];
        if (!word) continue;
        if (lane() == 0) vertices += __popcll(word);
        for (u32 bit = lane(); bit < WORD; bit += 32) leaving.add(degrees, word >> bit & 1, i * WORD + bit);
    }
    if (lane() == 0 && vertices) atomicAdd(report + TAIL, vertices);
    leaving.report(report);
}

// Count the edges that leave the vertices of a list.
template <typename I>
__global__ void sum_degrees(const I* vertices, u64 count, Degrees degrees, u64* report)
{
    Leaving leaving;
    for (u64 i = thread_index(); i < count; i += thread_count()) leaving.add(degrees, true, u64(vertices[i]));
    __syncwarp();
    leaving.report(report);
}
