// Kernels of the forest: hook, compress, and others. host.py has their twins.
#include "common.cuh"
#include "hook.cuh"
#include "unite.cuh"

#ifndef BYTES_A_THREAD
#define BYTES_A_THREAD 32  // bytes of each end that a thread reads at a time: 8 edges of int, 4 of long long
#endif

constexpr int QUEUE = 64;  // up to 31 pairs wait while 32 more come

// Two parents to join.
template <typename P>
struct Pair {
    P a, b;
};

// The state of a warp that hooks edges: the forest, the queue and the report. All lanes call these functions together.
template <typename P>
struct Hooking {
    P* parent;
    unsigned char* seen;  // null: do not mark self-loops
    u64 size;
    i64 base;
    Pair<P>* queue;   // QUEUE pairs in shared memory, for this warp only
    u32 waiting = 0;  // number of pairs in the queue
    u32 hooked = 0;   // number of all pairs so far
    i64 low = 0x7fffffffffffffffll;
    i64 high = -0x7fffffffffffffffll - 1;

    // Return an id's place in the forest; `size` or more for ids outside of it.
    __device__ __forceinline__ u64 place(i64 id) const { return u64(id) - u64(base); }

    // Hook N edges, or none if not `valid`. Each step is done for all of them before the next step, so that many reads
    // are in flight at once.
    template <int N, typename I>
    __device__ __forceinline__ void take(bool valid, const I (&source)[N], const I (&target)[N])
    {
        P u[N], v[N], a[N], b[N];
        bool open[N];
#pragma unroll
        for (int i = 0; i < N; ++i) {
            const u64 s = place(source[i]), t = place(target[i]);
            open[i] = valid && s < size && t < size;
            u[i] = P(s);
            v[i] = P(t);
            if (valid && !open[i]) {
                low = min(low, min(i64(source[i]), i64(target[i])));
                high = max(high, max(i64(source[i]), i64(target[i])));
            }
            if (open[i] && u[i] == v[i]) {
                if (seen) seen[u[i]] = 1;
                open[i] = false;
            }
        }
#pragma unroll
        for (int i = 0; i < N; ++i) {
            a[i] = open[i] ? parent[u[i]] : 0;
            b[i] = open[i] ? parent[v[i]] : 0;
        }
        // One comparison skips an edge inside a flat tree. After a sample, this skips nearly all edges.
#pragma unroll
        for (int i = 0; i < N; ++i) push(a[i] != b[i], a[i], b[i]);
    }

    // Queue a pair if `open`. Few lanes have one, so pairs wait until there is one for every lane.
    __device__ __forceinline__ void push(bool open, P a, P b)
    {
        const u32 lanes = __ballot_sync(ALL_LANES, open);
        if (open) queue[waiting + __popc(lanes & lanes_before())] = {a, b};
        waiting += __popc(lanes);
        hooked += __popc(lanes);
        if (waiting >= 32) drain();
    }

    // Hook the last 32 pairs of the queue, or all if there are fewer.
    __device__ __forceinline__ void drain()
    {
        __syncwarp();
        const u32 first = waiting < 32 ? 0 : waiting - 32;
        if (first + lane() < waiting) unite(parent, queue[first + lane()].a, queue[first + lane()].b);
        waiting = first;
        __syncwarp();
    }

    __device__ __forceinline__ void finish(Report* report)
    {
        drain();
        if (lane() == 0 && hooked) atomicAdd(&report->hooked, u64(hooked));
        if (low <= high) {
            atomicMin(&report->low, low);
            atomicMax(&report->high, high);
        }
    }
};

// Initialize a report.
__global__ void clear_report(Report* report) { *report = {0, 0x7fffffffffffffffll, -0x7fffffffffffffffll - 1}; }

// Join the trees of the two ends of each edge. With step 1, all edges are taken; otherwise the first SAMPLE_BLOCK of
// every step * SAMPLE_BLOCK edges, and always the few edges outside the 16-byte words. If an earlier kernel made the
// edges, `length` points at their number, and at most `edges` are taken.
template <typename P, typename I>
__global__ void __launch_bounds__(THREADS)
    hook(P* parent, unsigned char* seen, u64 size, const I* source, const I* target, u64 edges,
         const u64* length, i64 base, u64 step, Report* report)
{
    constexpr int N = BYTES_A_THREAD / sizeof(I);
    static_assert(SAMPLE_BLOCK % (32 * N) == 0, "the edges of a warp are neighbours");
    __shared__ Pair<P> queues[THREADS / 32][QUEUE];
    Hooking<P> hooking{parent, seen, size, base, queues[threadIdx.x / 32]};
    if (length) edges = min(edges, *length);

    const bool aligned = items_to_boundary(source) == items_to_boundary(target);
    const u64 head = aligned ? min(items_to_boundary(source), edges) : 0;
    const u64 body = (edges - head) / N * N;
    // The lanes of a warp iterate together: the first lane's item decides whether to continue.
    for (u64 turn = thread_index() - lane();; turn += thread_count()) {
        const u64 item = turn * N;
        const u64 first = item / SAMPLE_BLOCK * (SAMPLE_BLOCK * step) + item % SAMPLE_BLOCK;
        if (first >= body) break;
        const u64 edge = first + lane() * N;
        const bool valid = edge < body;
        I s[N] = {}, t[N] = {};
        if (valid) {
            load_streaming(source + head + edge, aligned, s);
            load_streaming(target + head + edge, aligned, t);
        }
        hooking.take(valid, s, t);
    }
    for (u64 turn = thread_index() - lane(); turn < edges - body; turn += thread_count()) {
        const u64 item = turn + lane();
        const u64 edge = item < head ? item : item + body;
        const bool valid = item < edges - body;
        const I s[1] = {valid ? source[edge] : I(0)}, t[1] = {valid ? target[edge] : I(0)};
        hooking.take(valid, s, t);
    }
    hooking.finish(report);
}

// Hook another forest's entries from its vertex `first` on. Its vertex i is vertex `slots[i]` of this forest, or
// i + `shift` if `slots` is null.
template <typename P, typename Q>
__global__ void __launch_bounds__(THREADS)
    absorb(P* parent, u64 size, const Q* entries, u64 count, u64 first, i64 shift, const P* slots,
           Report* report)
{
    constexpr int N = 8;  // entries that a lane processes at a time
    __shared__ Pair<P> queues[THREADS / 32][QUEUE];
    Hooking<P> hooking{parent, nullptr, size, 0, queues[threadIdx.x / 32]};
    for (u64 turn = (thread_index() - lane()) * N; turn < count; turn += thread_count() * N) {
        P u[N], v[N];
#pragma unroll
        for (int i = 0; i < N; ++i) {
            const u64 entry = turn + i * 32 + lane();
            u[i] = v[i] = 0;  // past the end: a self-loop has no effect
            if (entry >= count) continue;
            const u64 here = first + entry, above = u64(__ldcs(entries + entry));
            u[i] = slots ? slots[here] : P(here + shift);
            v[i] = slots ? slots[above] : P(above + shift);
        }
        hooking.take(true, u, v);
    }
    hooking.finish(report);
}

// Point every vertex from start to before stop at its root (multiple pointer jumping).
template <typename P>
__global__ void compress(P* parent, u64 start, u64 stop)
{
    constexpr int N = 4;  // vertices that a thread processes at once
    for (u64 turn = start + thread_index(); turn < stop; turn += thread_count() * N) {
        P first[N], above[N];
#pragma unroll
        for (int i = 0; i < N; ++i) {
            const u64 vertex = turn + i * thread_count();
            first[i] = vertex < stop ? parent[vertex] : parent[turn];
        }
#pragma unroll
        for (int i = 0; i < N; ++i) above[i] = parent[first[i]];
#pragma unroll
        for (int i = 0; i < N; ++i) {
            const u64 vertex = turn + i * thread_count();
            if (above[i] == first[i] || vertex >= stop) continue;
            P beyond = parent[above[i]];
            while (above[i] != beyond) {
                above[i] = beyond;
                beyond = parent[beyond];
            }
            parent[vertex] = above[i];
        }
    }
}

// Set seen for every vertex that a hooked edge touched. The forest must be flat.
template <typename P>
__global__ void mark_members(const P* parent, unsigned char* seen, u64 size)
{
    const auto mark = [&](u64 vertex, P above) {
        if (u64(above) == vertex) return;
        seen[vertex] = 1;
        if (!seen[above]) seen[above] = 1;  // the check avoids millions of writes to one byte
    };
    in_batches<4>(size, [&](u64 vertex) { return parent[vertex]; }, mark);
}

// Make every vertex a root.
template <typename P>
__global__ void identity(P* parent, u64 size)
{
    for (u64 vertex = thread_index(); vertex < size; vertex += thread_count()) parent[vertex] = P(vertex);
}

// Find the smallest and the largest id among the ends that each block reads. Consecutive ends are `source_step` and
// `target_step` items apart.
template <typename I>
__global__ void bounds(const I* source, i64 source_step, const I* target, i64 target_step, u64 edges,
                       i64* found)
{
    __shared__ i64 low, high;
    if (threadIdx.x == 0) low = high = source[0];
    __syncthreads();
    i64 mine_low = low, mine_high = high;
    for (u64 edge = thread_index(); edge < edges; edge += thread_count()) {
        const i64 u = source[i64(edge) * source_step], v = target[i64(edge) * target_step];
        mine_low = min(mine_low, min(u, v));
        mine_high = max(mine_high, max(u, v));
    }
    __syncthreads();
    atomicMin(&low, mine_low);
    atomicMax(&high, mine_high);
    __syncthreads();
    if (threadIdx.x == 0) found[2 * blockIdx.x] = low, found[2 * blockIdx.x + 1] = high;
}

// Each warp writes the labels of a run of vertices, after the first index of each run is known.
constexpr int ROUNDS = 16;
constexpr u64 RUN = 32 * ROUNDS;

// Count the vertices in each run that were seen.
__global__ void count_seen(const unsigned char* seen, u64 size, i64* counts)
{
    for (u64 first = thread_index() / 32 * RUN; first < size; first += thread_count() / 32 * RUN) {
        u32 count = 0;
#pragma unroll
        for (int i = 0; i < ROUNDS; ++i) {
            const u64 vertex = first + i * 32 + lane();
            count += vertex < size && seen[vertex];
        }
        count = warp_sum(count);
        if (lane() == 0) counts[first / RUN] = count;
    }
}

// Write the ids of the vertices that were seen, and those of their parents. `ends` is the running sum of the counts.
template <typename P, typename L>
__global__ void write_labels(const P* parent, const unsigned char* seen, u64 start, u64 size, i64 base,
                             const i64* ends, L* vertices, L* roots)
{
    for (u64 first = thread_index() / 32 * RUN; first < size; first += thread_count() / 32 * RUN) {
        u64 at = first ? ends[first / RUN - 1] : 0;
#pragma unroll
        for (int i = 0; i < ROUNDS; ++i) {
            const u64 place = first + i * 32 + lane();
            const bool occurs = place < size && seen[start + place];
            const u32 lanes = __ballot_sync(ALL_LANES, occurs);
            if (occurs) {
                const u64 to = at + __popc(lanes & lanes_before());
                vertices[to] = L(base + i64(start + place));
                roots[to] = L(base + i64(parent[start + place]));
            }
            at += __popc(lanes);
        }
    }
}
