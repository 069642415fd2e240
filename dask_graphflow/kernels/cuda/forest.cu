// The forest's kernels: hook, compress, and what goes with them. host.py has their twins.
//
// parent[v] <= v, and a root is its own parent. A root changes only by compare-and-swap; every other
// write points a vertex higher up its own path. So a thread that reads an old parent, from L1 or
// because another thread is at work there, reads a true ancestor, and a write that is lost or late
// costs a step and never a connection. That is why the reads below are plain ones.
//
// P is the type of the parents, I that of the ids: int or long long.
#include "common.cuh"

#ifndef BYTES_A_THREAD
#define BYTES_A_THREAD 32  // of each end that a thread takes at a time: 8 edges of int, 4 of long long
#endif

constexpr u64 SAMPLE_BLOCK = 256;  // neighbouring edges that a sample takes together
constexpr int QUEUE = 64;          // up to 31 pairs wait while 32 more come

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

// Two parents that are to be joined.
template <typename P>
struct Pair {
    P a, b;
};

// What a warp hooks edges into, and what it has to report. All lanes call its functions together.
template <typename P>
struct Hooking {
    P* parent;
    unsigned char* seen;  // null: do not note self-loops
    u64 size;
    i64 base;
    const u32* members;  // a bit for each vertex of the giant, or null
    Pair<P>* queue;      // the warp's own, in shared memory; QUEUE pairs
    u32 waiting = 0;     // pairs in it
    u32 hooked = 0;      // pairs that ever were
    i64 low = 0x7fffffffffffffffll;
    i64 high = -0x7fffffffffffffffll - 1;

    // An id's place in the forest; `size` and more for ids that lie outside.
    __device__ __forceinline__ u64 place(i64 id) const { return u64(id) - u64(base); }

    __device__ __forceinline__ u32 is_member(P vertex) const
    {
        return members[vertex / 32] >> (vertex % 32) & 1;
    }

    // Take N edges; none where not `valid`. Each step is taken for all of them before the next one,
    // so that many reads are under way at once.
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
        for (int i = 0; i < N; ++i) push(a[i] != b[i], a[i], b[i]);
    }

    // Few lanes have something to hook: it waits until there is something for every lane to do.
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

// Join the trees of the two ends of edges: of all with step 1, else of the first SAMPLE_BLOCK of every
// step * SAMPLE_BLOCK. (The few edges beside the 16-byte words are always taken.)
template <typename P, typename I>
__global__ void __launch_bounds__(THREADS)
    hook(P* parent, unsigned char* seen, u64 size, const I* source, const I* target, u64 edges,
         i64 base, u64 step, const P* giant, const u32* members, Report* report)
{
    constexpr int N = BYTES_A_THREAD / sizeof(I);
    static_assert(SAMPLE_BLOCK % (32 * N) == 0, "the edges of a warp are neighbours");
    __shared__ Pair<P> queues[THREADS / 32][QUEUE];
    const bool skipping = members && *giant >= 0;
    Hooking<P> hooking{parent, seen, size, base, skipping ? members : nullptr, queues[threadIdx.x / 32]};

    const bool aligned = items_to_boundary(source) == items_to_boundary(target);
    const u64 head = aligned ? min(items_to_boundary(source), edges) : 0;
    const u64 body = (edges - head) / N * N;
    // A warp's lanes go round together: the first lane's turn says whether there is another.
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

constexpr u32 VOTERS = THREADS;
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
        if (lane() == 0 && vertex < size) members[vertex / 32] = word;
    }
}
