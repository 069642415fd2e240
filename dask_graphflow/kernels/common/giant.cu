// Skip the edges inside the giant, which is the tree that contains most edges after a sample has been hooked.
//
// A bit in L2 tells whether a vertex belongs to the giant. The throughput of L2 is limited. Hubs, the vertices at which
// most edges end, are therefore looked up in shared memory first, which saves half of the requests to L2. They are in a
// direct-mapped table of one byte per slot: vertex x uses slot x % slots, and the byte is x / slots + 1.
//
// Edges that are not skipped are appended to a list, which another kernel hooks while the next filter runs. That kernel
// waits for memory, while the filter waits for L2. If one end of such an edge belongs to the giant, the bit of the
// other end is set at once, so that the next edge between the two is skipped. So a set bit means that hooked or listed
// edges connect the vertex with the giant.
#include "common.cuh"
#include "hook.cuh"
#include "unite.cuh"

#ifndef FILTER_THREADS
#define FILTER_THREADS 640  // one block per multiprocessor; leaves registers for a block that hooks at the same time
#endif

constexpr u32 ROWS = 255;      // number of vertices from which a slot chooses its hub
constexpr u32 ENOUGH = 31;     // highest count of a vertex; counting stops there
constexpr u32 PIECE = 256;     // places in the list that a warp reserves at once
constexpr u32 FILTERED = 256;  // the number of edges that a filter processes is a multiple of this

// Division by a number that is known only at launch: floor(x / by) for x below 2^31.
struct Divisor {
    u32 by, magic, shift;
    __device__ __forceinline__ u32 quotient(u32 x) const { return __umulhi(x, magic) >> shift; }
};

constexpr u32 VOTERS = THREADS;
constexpr u32 SHARE = 4;  // a giant contains at least 1/SHARE of the voters' edges

// Return the word at `from`, or a word with all bits set if `a` equals `b`. In C++ this would be a branch, and each
// branch would wait for its read. The read bypasses L1, because the bits do not fit there.
__device__ __forceinline__ u32 load_unless(u32 a, u32 b, const u32* from)
{
    u32 word = 0xffffffffu;
    asm("{ .reg .pred wanted; setp.ne.u32 wanted, %2, %3; @wanted ld.global.cg.u32 %0, [%1]; }"
        : "+r"(word)
        : "l"(from), "r"(a), "r"(b));
    return word;
}

// The result of `choose_giant`.
struct Giant {
    i64 root;  // -1 if there is no giant; the kernels that follow then do nothing
    u64 rest;  // number of edges to hook without a giant: 0 if there is one, otherwise all
};

// Find the tree that contains most edges, from the parents of the ends of VOTERS edges. Run by one block of VOTERS
// threads.
template <typename I>
__global__ void choose_giant(const int* parent, u64 size, const I* source, const I* target, u64 edges, i64 base,
                             Giant* giant)
{
    __shared__ int votes[VOTERS];
    __shared__ u32 best, inside;
    const u32 me = threadIdx.x;
    const u64 edge = __umul64hi(me * 0x9e3779b97f4a7c15ull, edges);  // other edges than those of the sample
    const u64 u = u64(i64(source[edge])) - u64(base), v = u64(i64(target[edge])) - u64(base);
    const int mine = u < size ? parent[u] : -1, other = v < size ? parent[v] : -1;
    votes[me] = mine;
    if (me == 0) best = inside = 0;
    __syncthreads();
    u32 count = 0;
    for (u32 i = 0; i < VOTERS; ++i) count += votes[i] == mine;
    if (mine < 0) count = 0;
    atomicMax(&best, count * VOTERS + me);
    __syncthreads();
    const int root = best < VOTERS ? -1 : votes[best % VOTERS];
    if (mine == root && other == root) atomicAdd(&inside, 1u);
    __syncthreads();
    if (me == 0) *giant = inside * SHARE >= VOTERS ? Giant{root, 0} : Giant{-1, edges};
}

// Set a bit for every vertex whose parent is the giant's root. For a graph with a billion edges, the bits fit in L2,
// while the parents do not.
__global__ void mark_giant(const int* parent, u64 size, const Giant* giant, u32* members)
{
    const i64 root = giant->root;
    if (root < 0) return;
    constexpr int N = 8;  // reads in flight at once
    for (u64 first = (thread_index() - lane()) * N; first < size; first += thread_count() * N) {
        u32 mine = 0;
#pragma unroll
        for (int i = 0; i < N; ++i) {
            const u64 vertex = first + i * 32 + lane();
            const u32 word = __ballot_sync(ALL_LANES, vertex < size && parent[vertex] == root);
            if (lane() == i) mine = word;
        }
        if (lane() < N && first + lane() * 32 < size) members[first / 32 + lane()] = mine;
    }
}

// Count how often vertices occur in a sample of the edges, up to ENOUGH. If several threads count the same vertex at
// the same time, counts are lost. This does no harm, because hubs still get higher counts than other vertices.
template <typename I>
__global__ void count_ends(unsigned char* counts, u64 size, const I* source, const I* target, u64 edges,
                           i64 base, u64 step, const Giant* giant)
{
    if (giant->root < 0) return;
    for (u64 turn = thread_index();; turn += thread_count()) {
        const u64 edge = turn / SAMPLE_BLOCK * (SAMPLE_BLOCK * step) + turn % SAMPLE_BLOCK;
        if (edge >= edges) break;
        const u64 ends[2] = {u64(i64(__ldcs(source + edge))) - u64(base),
                             u64(i64(__ldcs(target + edge))) - u64(base)};
        for (u64 end : ends) {
            if (end >= size) continue;
            const unsigned char count = __ldcg(counts + end);
            if (count < ENOUGH) counts[end] = count + 1;
        }
    }
}

// Among the vertices that map to each slot, choose the one with the highest count as its hub. The slot stays empty if
// this vertex is not in the giant.
__global__ void pick_hubs(const unsigned char* counts, u64 size, const Giant* giant, const u32* members,
                          Divisor slots, unsigned char* hubs)
{
    if (giant->root < 0) return;
    for (u64 slot = thread_index(); slot < slots.by; slot += thread_count()) {
        u32 most = 0, hub = 0;
        for (u32 row = 0; row < ROWS; ++row) {
            const u64 vertex = u64(row) * slots.by + slot;
            if (vertex >= size) break;
            const u32 count = counts[vertex];
            if (count > most) {
                most = count;
                hub = row;
            }
        }
        const u64 vertex = u64(hub) * slots.by + slot;
        const bool inside = most && members[vertex / 32] >> (vertex % 32) & 1;
        hubs[slot] = inside ? hub + 1 : 0;
    }
}

// Return an id's place in the forest; `size` or more for ids outside of it. (Places are less than 2**31, and the host
// makes sure that `base` fits int if ids are int.)
__device__ __forceinline__ u32 place(int id, i64 base, u32) { return u32(id) - u32(base); }

__device__ __forceinline__ u32 place(i64 id, i64 base, u32 size)
{
    const u64 at = u64(id) - u64(base);
    return at < size ? u32(at) : size;
}

// List the edges that are not inside the giant. Ends inside the giant are replaced by its root. Also mark self-loops
// and report ids outside the forest. Edges for which the list has no room are hooked at once. `hubs` is copied to
// shared memory, so there is one block per multiprocessor. The arrays of ends begin at 16-byte boundaries, and the
// number of edges is a multiple of FILTERED.
template <typename I>
__global__ void __launch_bounds__(FILTER_THREADS, 1)
    filter(int* parent, unsigned char* seen, u32 size, const I* source, const I* target, u64 edges,
           i64 base, const Giant* giant, u32* members, const unsigned char* hubs, Divisor slots,
           int* list_source, int* list_target, u64 capacity, u64* length, Report* report)
{
    const int root = int(giant->root);
    if (root < 0) return;
    constexpr int EACH = 16 / sizeof(I);  // edges of a 16-byte word
    constexpr int N = 2 * EACH;           // edges that a thread processes at a time
    static_assert(FILTERED % (32 * N) == 0, "whole warps");
    extern __shared__ __align__(16) unsigned char table[];
    for (u32 i = threadIdx.x * 16; i < slots.by; i += blockDim.x * 16)
        *reinterpret_cast<uint4*>(table + i) = *reinterpret_cast<const uint4*>(hubs + i);
    __syncthreads();

    i64 low = 0x7fffffffffffffffll, high = -0x7fffffffffffffffll - 1;
    u64 at = 0;    // next place in the warp's piece of the list
    u32 left = 0;  // places left in the piece
    for (u64 first = (thread_index() - lane()) * N; first < edges; first += thread_count() * N) {
        I s[N], t[N];
#pragma unroll
        for (int w = 0; w < 2; ++w) {
            const u64 edge = first + (w * 32 + lane()) * EACH;
            const uint4 a = __ldcs(reinterpret_cast<const uint4*>(source + edge));
            const uint4 b = __ldcs(reinterpret_cast<const uint4*>(target + edge));
            memcpy(s + w * EACH, &a, 16);
            memcpy(t + w * EACH, &b, 16);
        }
        u32 u[N], v[N], outside = 0, loops = 0;
#pragma unroll
        for (int i = 0; i < N; ++i) {
            u[i] = place(s[i], base, size);
            v[i] = place(t[i], base, size);
            if (max(u[i], v[i]) >= size) outside |= 1u << i;
            if (u[i] == v[i]) loops |= 1u << i;
        }
        if (outside) {
#pragma unroll
            for (int i = 0; i < N; ++i) {
                if (!(outside >> i & 1)) continue;
                low = min(low, min(i64(s[i]), i64(t[i])));
                high = max(high, max(i64(s[i]), i64(t[i])));
                u[i] = v[i] = 0;
            }
        }
        if (seen && (loops & ~outside)) {
#pragma unroll
            for (int i = 0; i < N; ++i)
                if (loops & ~outside & 1u << i) seen[u[i]] = 1;
        }
        // The word of a giant's vertex has the vertex's bit set. For hubs, no word is read, and all bits are set.
        u32 u_word[N], v_word[N];
#pragma unroll
        for (int i = 0; i < N; ++i) {
            const u32 p = slots.quotient(u[i]), q = slots.quotient(v[i]);
            u_word[i] = load_unless(table[u[i] - p * slots.by], p + 1, members + u[i] / 32);
            v_word[i] = load_unless(table[v[i] - q * slots.by], q + 1, members + v[i] / 32);
        }
        u32 open = 0;
#pragma unroll
        for (int i = 0; i < N; ++i) {
            u_word[i] = __funnelshift_r(u_word[i], 0, u[i]) & 1;  // by u % 32
            v_word[i] = __funnelshift_r(v_word[i], 0, v[i]) & 1;
            if (!(u_word[i] & v_word[i])) open |= 1u << i;
        }
        open &= ~(outside | loops);
        // Append the open edges, in the order of the lanes.
        u32 before = running_sum(u32(__popc(open)));
        const u32 total = __shfl_sync(ALL_LANES, before, 31);
        if (!total) continue;
        before -= __popc(open);
        u64 next = at;
        if (total > left) {
            if (lane() == 0) next = atomicAdd(length, u64(PIECE));
            next = __shfl_sync(ALL_LANES, next, 0);
        }
#pragma unroll
        for (int i = 0; i < N; ++i) {
            if (!(open >> i & 1)) continue;
            const u64 to = before < left ? at + before : next + before - left;
            const int a = u_word[i] ? root : int(u[i]), b = v_word[i] ? root : int(v[i]);
            if (u_word[i]) atomicOr(members + v[i] / 32, 1u << (v[i] % 32));
            if (v_word[i]) atomicOr(members + u[i] / 32, 1u << (u[i] % 32));
            if (to < capacity) {
                list_source[to] = a;
                list_target[to] = b;
            } else if (parent[a] != parent[b]) {
                atomicAdd(&report->hooked, u64(1));  // otherwise the host would assume that the forest is still flat
                unite(parent, a, b);
            }
            ++before;
        }
        if (total > left) {
            at = next + total - left;
            left += PIECE - total;
        } else {
            at += total;
            left -= total;
        }
    }
    // Fill the rest of the warp's piece with self-loops, which have no effect.
    for (u32 i = lane(); i < left; i += 32)
        if (at + i < capacity) list_source[at + i] = list_target[at + i] = 0;
    if (low <= high) {
        atomicMin(&report->low, low);
        atomicMax(&report->high, high);
    }
}
