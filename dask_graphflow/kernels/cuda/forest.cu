// The forest's kernels: hook, compress, and what goes with them. host.py has their twins.
//
// parent[v] <= v, and a root is its own parent. A root changes only by compare-and-swap; every other
// write points a vertex higher up its own path. So a thread that reads an old parent, from L1 or
// because another thread is at work there, reads a true ancestor, and a write that is lost or late
// costs a step and never a connection. That is why the reads below are plain ones.
//
// P is the type of the parents, I that of the ids: int or long long.
#include "common.cuh"

#ifndef EDGES_A_THREAD
#define EDGES_A_THREAD 4  // taken at a time: as many independent reads of parents are under way, twice
#endif

constexpr u64 SAMPLE_BLOCK = 256;  // neighbouring edges that a sample takes together

// What a hook launch tells the host.
struct Report {
    u64 hooked;  // edges whose ends had different parents
    i64 low;     // smallest and largest id of the edges that do not lie in the forest
    i64 high;
};

// The root above a vertex; what lies on the way is pointed past its parent (path halving, ECL-CC).
template <typename P>
__device__ __forceinline__ P find(P* parent, P vertex)
{
    P above = parent[vertex];
    if (above != vertex) {
        P behind = vertex;
        P beyond = parent[above];
        while (beyond != above) {
            parent[behind] = beyond;
            behind = above;
            above = beyond;
            beyond = parent[above];
        }
    }
    return above;
}

__device__ __forceinline__ int compare_and_swap(int* at, int expected, int desired)
{
    return atomicCAS(at, expected, desired);
}

__device__ __forceinline__ i64 compare_and_swap(i64* at, i64 expected, i64 desired)
{
    return i64(atomicCAS(reinterpret_cast<u64*>(at), u64(expected), u64(desired)));
}

// Hook the higher root onto the lower one; on a lost race go on from what the swap returned, which is
// below the root that was expected: so this ends, however old the parents are that `find` reads.
template <typename P>
__device__ __forceinline__ void unite(P* parent, P u, P v)
{
    P a = find(parent, u);
    P b = find(parent, v);
    while (a != b) {
        if (a < b) {
            const P lower = a;
            a = b;
            b = lower;
        }
        const P found = compare_and_swap(parent + a, a, b);
        if (found == a) return;
        a = find(parent, found);
        b = find(parent, b);
    }
}

// The forest that edges are hooked into, and what the thread has to report of it.
template <typename P>
struct Hooking {
    P* parent;
    unsigned char* seen;  // null: do not note self-loops
    u64 size;
    i64 base;
    const u32* members;  // a bit for each vertex of the largest tree, or null
    u32 hooked = 0;
    i64 low = 0x7fffffffffffffffll;
    i64 high = -0x7fffffffffffffffll - 1;

    // An id's place in the forest; `size` and more for ids that lie outside.
    __device__ __forceinline__ u64 place(i64 id) const { return u64(id) - u64(base); }

    __device__ __forceinline__ u32 is_member(P vertex) const
    {
        return members[vertex / 32] >> (vertex % 32) & 1;
    }

    // Each step is taken for all N edges before the next one, so that N edges wait for memory at once.
    template <int N, typename I>
    __device__ __forceinline__ void take(const I (&source)[N], const I (&target)[N])
    {
        P u[N], v[N], a[N], b[N];
        bool open[N];
#pragma unroll
        for (int i = 0; i < N; ++i) {
            const u64 s = place(source[i]), t = place(target[i]);
            open[i] = s < size && t < size;
            u[i] = P(s);
            v[i] = P(t);
            if (!open[i]) {
                low = min(low, min(i64(source[i]), i64(target[i])));
                high = max(high, max(i64(source[i]), i64(target[i])));
            } else if (u[i] == v[i]) {
                if (seen) seen[u[i]] = 1;
                open[i] = false;
            }
        }
        if (members) {
            u32 inside[N];
#pragma unroll
            for (int i = 0; i < N; ++i) inside[i] = open[i] ? is_member(u[i]) & is_member(v[i]) : 1;
#pragma unroll
            for (int i = 0; i < N; ++i) open[i] = !inside[i];
        }
#pragma unroll
        for (int i = 0; i < N; ++i) {
            a[i] = open[i] ? parent[u[i]] : 0;
            b[i] = open[i] ? parent[v[i]] : 0;
        }
        // One comparison skips every edge inside a tree that is flat: after a sample, nearly all.
#pragma unroll
        for (int i = 0; i < N; ++i) {
            if (a[i] != b[i]) {
                ++hooked;
                unite(parent, a[i], b[i]);
            }
        }
    }

    // All threads call it, once each.
    __device__ __forceinline__ void tell(Report* report) const
    {
        const u32 sum = warp_sum(hooked);
        if (first_lane() && sum) atomicAdd(&report->hooked, u64(sum));
        if (low <= high) {
            atomicMin(&report->low, low);
            atomicMax(&report->high, high);
        }
    }
};

// Join the trees of the two ends of edges: of all with step 1, else of the first SAMPLE_BLOCK of every
// step * SAMPLE_BLOCK. (The few edges beside the 16-byte words are always taken.)
template <typename P, typename I>
__global__ void __launch_bounds__(256)
    hook(P* parent, unsigned char* seen, u64 size, const I* source, const I* target, u64 edges,
         i64 base, u64 step, const P* giant, const u32* members, Report* report)
{
    constexpr int N = EDGES_A_THREAD;
    const bool skipping = members && *giant >= 0;
    Hooking<P> hooking{parent, seen, size, base, skipping ? members : nullptr};

    const bool aligned = items_to_boundary(source) == items_to_boundary(target);
    const u64 head = aligned ? min(items_to_boundary(source), edges) : 0;
    const u64 body = (edges - head) / N * N;
    for (u64 item = thread_index() * N;; item += thread_count() * N) {
        const u64 edge = item / SAMPLE_BLOCK * (SAMPLE_BLOCK * step) + item % SAMPLE_BLOCK;
        if (edge >= body) break;
        I s[N], t[N];
        load_streaming(source + head + edge, aligned, s);
        load_streaming(target + head + edge, aligned, t);
        hooking.take(s, t);
    }
    for (u64 item = thread_index(); item < edges - body; item += thread_count()) {
        const u64 edge = item < head ? item : item + body;
        const I s[1] = {source[edge]}, t[1] = {target[edge]};
        hooking.take(s, t);
    }
    hooking.tell(report);
}

// Hook without atomics: where two edges meet at one root, the last one wins.
template <typename P, typename I>
__global__ void hook_plain(P* parent, u64 size, const I* source, const I* target, u64 edges, i64 base,
                           bool fresh)
{
    for (u64 edge = thread_index(); edge < edges; edge += thread_count()) {
        const u64 u = u64(i64(__ldcs(source + edge))) - u64(base);
        const u64 v = u64(i64(__ldcs(target + edge))) - u64(base);
        if (u >= size || v >= size || u == v) continue;
        const P a = fresh ? P(u) : parent[u];
        const P b = fresh ? P(v) : parent[v];
        const P higher = max(a, b), lower = min(a, b);
        if (higher != lower && (fresh || parent[higher] == higher)) parent[higher] = lower;
    }
}

// Point every vertex from start to before stop at its root (multiple pointer jumping).
template <typename P>
__global__ void compress(P* parent, u64 start, u64 stop)
{
    for (u64 vertex = start + thread_index(); vertex < stop; vertex += thread_count()) {
        const P first = parent[vertex];
        P above = first;
        P beyond = parent[above];
        while (above != beyond) {
            above = beyond;
            beyond = parent[above];
        }
        if (above != first) parent[vertex] = above;
    }
}

// Set seen for every vertex that some hooked edge touched; the forest is flat.
template <typename P>
__global__ void mark_members(const P* parent, unsigned char* seen, u64 size)
{
    for (u64 vertex = thread_index(); vertex < size; vertex += thread_count()) {
        const P above = parent[vertex];
        if (u64(above) == vertex) continue;
        seen[vertex] = 1;
        if (!seen[above]) seen[above] = 1;  // the look first keeps millions from writing to one byte
    }
}

constexpr u32 VOTERS = 256;
constexpr u32 SHARE = 4;  // a tree counts as a giant above 1/SHARE of the votes

// Find the tree that most edges lie in, by the parents of VOTERS edges' sources; -1 where there is no
// giant. One block of VOTERS threads.
template <typename P, typename I>
__global__ void choose_giant(const P* parent, u64 size, const I* source, u64 edges, i64 base, P* giant)
{
    __shared__ P votes[VOTERS];
    __shared__ u32 best;
    const u32 me = threadIdx.x;
    const u64 vertex = u64(i64(source[edges * me / VOTERS])) - u64(base);
    const P mine = vertex < size ? parent[vertex] : -1;
    votes[me] = mine;
    if (me == 0) best = 0;
    __syncthreads();
    u32 count = 0;
    for (u32 i = 0; i < VOTERS; ++i) count += votes[i] == mine;
    if (mine < 0) count = 0;
    atomicMax(&best, count * VOTERS + me);
    __syncthreads();
    if (best % VOTERS == me) *giant = count * SHARE > VOTERS ? mine : -1;
}

// Set a bit for every vertex right below the giant's root. The bits of a billion-edge graph fit in L2
// where its parents do not.
template <typename P>
__global__ void mark_giant(const P* parent, u64 size, const P* giant, u32* members)
{
    const P root = *giant;
    if (root < 0) return;
    // Whole warps go round together: every lane has a bit to give.
    for (u64 first = u64(blockIdx.x) * blockDim.x; first < size; first += thread_count()) {
        const u64 vertex = first + threadIdx.x;
        const u32 word = __ballot_sync(ALL_LANES, vertex < size && parent[vertex] == root);
        if (first_lane() && vertex < size) members[vertex / 32] = word;
    }
}
