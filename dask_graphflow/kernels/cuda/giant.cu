// Skip the edges inside the giant: the tree that most edges lie in, once a sample has been hooked.
//
// Whether a vertex belongs to the giant is a bit in L2, which answers so many questions a second and
// no more. Hubs, the vertices that most edges end at, keep half of the questions from it: they are
// looked up in shared memory first, in a direct-mapped table of one byte a slot, where vertex x has slot
// x % slots and the byte is x / slots + 1.
//
// An edge that is not skipped goes into a list, which another kernel hooks beside the next filter: that
// waits for memory, while the filter waits for L2. If one end of it belongs to the giant, the other one's bit
// is set on the spot, so that the next edge between the two is skipped. So a bit says: connected with
// the giant by what is hooked or listed.
#include "common.cuh"
#include "unite.cuh"

#ifndef FILTER_THREADS
#define FILTER_THREADS 640  // a block a multiprocessor, and registers for a block that hooks beside it
#endif

constexpr u32 ROWS = 255;      // vertices that a slot chooses its hub from
constexpr u32 ENOUGH = 31;     // counts that make a hub
constexpr u32 PIECE = 256;     // places in the list that a warp asks for at once
constexpr u32 FILTERED = 256;  // edges, of which a filter takes a multiple

// Division by a number that is known only at launch: floor(x / by) for x below 2^31.
struct Divisor {
    u32 by, magic, shift;
    __device__ __forceinline__ u32 quotient(u32 x) const { return __umulhi(x, magic) >> shift; }
};

constexpr u32 VOTERS = THREADS;
constexpr u32 SHARE = 4;  // a giant has at least 1/SHARE of the voters inside

// Read a word unless two numbers are the same; then all its bits are set. As C++ this would be a branch,
// and each would wait for its read. Past L1: what is read is too wide for it.
__device__ __forceinline__ u32 load_unless(u32 a, u32 b, const u32* from)
{
    u32 word = 0xffffffffu;
    asm("{ .reg .pred wanted; setp.ne.u32 wanted, %2, %3; @wanted ld.global.cg.u32 %0, [%1]; }"
        : "+r"(word)
        : "l"(from), "r"(a), "r"(b));
    return word;
}

// What is known of the giant.
struct Giant {
    i64 root;  // -1 where there is none, and what follows does nothing
    u64 rest;  // edges to hook without it: none, or as many as there are
};

// Find the tree that most edges lie in, by the parents of VOTERS edges' ends. One block of VOTERS threads.
template <typename I>
__global__ void choose_giant(const int* parent, u64 size, const I* source, const I* target, u64 edges, i64 base,
                             Giant* giant)
{
    __shared__ int votes[VOTERS];
    __shared__ u32 best, inside;
    const u32 me = threadIdx.x;
    const u64 edge = __umul64hi(me * 0x9e3779b97f4a7c15ull, edges);  // not those that a sample took
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

// Set a bit for every vertex right below the giant's root. The bits of a billion-edge graph fit in L2
// where its parents do not.
__global__ void mark_giant(const int* parent, u64 size, const Giant* giant, u32* members)
{
    const i64 root = giant->root;
    if (root < 0) return;
    constexpr int N = 8;  // reads under way at once
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

// Count how often vertices occur in a sample of the edges, up to ENOUGH. Threads that count at one vertex
// at once lose counts, which is of no matter: hubs are told from the others all the same.
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

// Give each slot the vertex of the giant that was counted most often of those that it may hold.
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

// An id's place in the forest; `size` and more for ids that lie outside. (No place is 2**31 or more, and
// the host sees to it that an int's base is one too.)
__device__ __forceinline__ u32 place(int id, i64 base, u32) { return u32(id) - u32(base); }

__device__ __forceinline__ u32 place(i64 id, i64 base, u32 size)
{
    const u64 at = u64(id) - u64(base);
    return at < size ? u32(at) : size;
}

// List the edges that do not lie inside the giant, with its root for ends that do; mark self-loops; tell
// of ids outside the forest. What the list has no room for is hooked on the spot. `hubs` is copied to
// shared memory: one block a multiprocessor. The ends begin at 16-byte boundaries, and there are a
// multiple of FILTERED of them.
template <typename I>
__global__ void __launch_bounds__(FILTER_THREADS, 1)
    filter(int* parent, unsigned char* seen, u32 size, const I* source, const I* target, u64 edges,
           i64 base, const Giant* giant, u32* members, const unsigned char* hubs, Divisor slots,
           int* list_source, int* list_target, u64 capacity, u64* length, Report* report)
{
    const int root = int(giant->root);
    if (root < 0) return;
    constexpr int EACH = 16 / sizeof(I);  // edges of a 16-byte word
    constexpr int N = 2 * EACH;           // edges that a thread takes at a time
    static_assert(FILTERED % (32 * N) == 0, "whole warps");
    extern __shared__ __align__(16) unsigned char table[];
    for (u32 i = threadIdx.x * 16; i < slots.by; i += blockDim.x * 16)
        *reinterpret_cast<uint4*>(table + i) = *reinterpret_cast<const uint4*>(hubs + i);
    __syncthreads();

    i64 low = 0x7fffffffffffffffll, high = -0x7fffffffffffffffll - 1;
    u64 at = 0;    // where the warp's piece of the list goes on
    u32 left = 0;  // places in it
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
        // A member's word has its bit set; so has the one that is not read for a hub.
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
        // Append, lane after lane.
        u32 before = __popc(open);
#pragma unroll
        for (int d = 1; d < 32; d *= 2) {
            const u32 other = __shfl_up_sync(ALL_LANES, before, d);
            if (lane() >= d) before += other;
        }
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
                atomicAdd(&report->hooked, u64(1));  // or the host takes the forest for flat
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
    // What is left of the warp's piece connects nothing.
    for (u32 i = lane(); i < left; i += 32)
        if (at + i < capacity) list_source[at + i] = list_target[at + i] = 0;
    if (low <= high) {
        atomicMin(&report->low, low);
        atomicMax(&report->high, high);
    }
}
