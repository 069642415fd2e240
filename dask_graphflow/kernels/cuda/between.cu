// Sums of the weights of edges between groups of vertices, as rows of groups; host_groups.py has the twin.
//
// Groups are processed in slices. A hash table in global memory, which fits in L2, sums the weights of a slice by pairs
// of groups. Each pair gets its place in the row when it is added, so that rows are written without a sort.
#include "common.cuh"
#include "edges.cuh"
#include "gang.cuh"

constexpr u64 EMPTY = ~0ull;

// The host writes this struct.
template <typename I>
struct Between {
    const i64* offsets;
    const I* ends;
    const i64* weights;  // null: 1 each
    const I* number;     // group of each vertex; negative: none
    const i64* members;  // the vertices, by group
    const i64* begins;   // where the edges of each member begin, if rows are in the order of members
    const i64* first;    // index of the first member of each group
    const i64* bounds;   // running sum of the largest possible number of pairs of each group
    u64 vertices, groups;
    u32 width;  // bits of the number of a group
    u32 slots;  // at least twice the pairs of each group
    u64* keys;  // EMPTY initially, and afterwards
    i64* sums;  // 0 initially, and afterwards
    u32* places;
    i64* sizes;  // 0 initially: running sum of the number of pairs of each group, afterwards
    i64* totals;  // one per block
    I* into;
    i64* weight;
    u32* arrived;
};

// Add the edges of the groups from `from` to before `to` to the table, and count the pairs of each group.
template <typename I>
__device__ __forceinline__ void add_edges(const Between<I>& between, u64 from, u64 to)
{
    const i64 first = between.begins[between.first[from]], last = between.begins[between.first[to]];
    const i64 tile = tile_size(last - first);
    const auto add = [&](const Span& span) {
        I own = 0;
        i64 shift = 0;
        if (span.row < between.vertices) {
            const i64 vertex = between.members[span.row];
            own = between.number[vertex];
            shift = between.offsets[vertex] - between.begins[span.row];
        }
        for (i64 base = span.first; base < span.last; base += 32) {
            const i64 at = base + lane();
            const u32 owner = owner_of(span, min(at, span.last - 1));
            const I source = __shfl_sync(ALL_LANES, own, owner);
            const i64 edge = at + __shfl_sync(ALL_LANES, shift, owner);
            i64 weight = 0;
            I target = I(-1);
            if (at < span.last) {
                target = between.number[between.ends[edge]];
                weight = between.weights ? between.weights[edge] : 1;
            }
            bool added = false;
            u32 slot = 0;
            if (target >= 0 && target != source && weight) {
                const u64 key = u64(source - I(from)) << between.width | u64(target);
                slot = u32(key * 0x9e3779b97f4a7c15ull >> 32) & (between.slots - 1);
                for (;; slot = (slot + 1) & (between.slots - 1)) {
                    u64 held = fresh(between.keys[slot]);
                    if (held == EMPTY) {
                        held = atomicCAS(between.keys + slot, EMPTY, key);
                        added = held == EMPTY;
                    }
                    if (added || held == key) break;
                }
                add_to(between.sums + slot, weight);
            }
            const u32 same = __match_any_sync(ALL_LANES, added ? source : I(-1));
            const u32 leader = __ffs(same) - 1;
            i64 place = 0;
            if (added && lane() == leader)
                place = i64(atomicAdd(reinterpret_cast<u64*>(between.sizes + source + 1), u64(__popc(same))));
            place = __shfl_sync(ALL_LANES, place, leader);
            if (added) between.places[slot] = u32(place) + __popc(same & lanes_before());
        }
    };
    for (i64 edge = first + i64(warp_index()) * tile; edge < last; edge += i64(warp_count()) * tile)
        visit_tile(between.begins, between.vertices, edge, min(edge + tile, last), add);
}

// Return the sum of the values of all threads before this one, and set `all` to the sum of all.
__device__ __forceinline__ i64 block_before(i64 value, i64& all)
{
    __shared__ i64 sums[GANG / 32];
    i64 before = value;
#pragma unroll
    for (u32 step = 1; step < 32; step *= 2) {
        const i64 other = __shfl_up_sync(ALL_LANES, before, step);
        if (lane() >= step) before += other;
    }
    __syncthreads();  // all threads have read the sums of the last call
    if (lane() == 31) sums[threadIdx.x / 32] = before;
    __syncthreads();
    all = 0;
    i64 warps = 0;
    for (u32 warp = 0; warp < GANG / 32; ++warp) {
        if (warp == threadIdx.x / 32) warps = all;
        all += sums[warp];
    }
    return warps + before - value;
}

// Make running sums of the sizes of the groups from `from` to before `to`. Each block does a part of them.
template <typename I>
__device__ __forceinline__ void add_up_sizes(const Between<I>& between, u64 from, u64 to)
{
    const u64 part = (to - from + gridDim.x - 1) / gridDim.x;
    const u64 begin = min(from + blockIdx.x * part, to), end = min(begin + part, to);
    i64 mine = 0, all = 0;
    for (u64 group = begin + threadIdx.x; group < end; group += blockDim.x) mine += fresh(between.sizes[group + 1]);
    block_before(mine, all);
    if (threadIdx.x == 0) between.totals[blockIdx.x] = all;
    i64 running = fresh(between.sizes[from]);
    meet_grid(between.arrived);
    mine = 0;
    for (u32 block = threadIdx.x; block < blockIdx.x; block += blockDim.x) mine += fresh(between.totals[block]);
    block_before(mine, all);
    running += all;
    for (u64 base = begin; base < end; base += blockDim.x) {
        const u64 group = base + threadIdx.x;
        const i64 size = group < end ? fresh(between.sizes[group + 1]) : 0;
        const i64 before = block_before(size, all);
        if (group < end) between.sizes[group + 1] = running + before + size;
        running += all;
    }
    meet_grid(between.arrived);
}

// Write the rows of the groups from `low` to before `high`, from the beginning of `into` and `weight`.
template <typename I>
__global__ void __launch_bounds__(GANG, 2) sum_between(Between<I> between, u64 low, u64 high)
{
    const i64 written = between.sizes[low];
    for (u64 from = low; from < high;) {
        const u64 room = between.slots / 2;
        const u64 fitting = row_of(between.bounds, between.groups + 1, between.bounds[from] + i64(room));
        const u64 to = min(max(fitting, from + 1), min(high, from + room));
        add_edges(between, from, to);
        meet_grid(between.arrived);
        add_up_sizes(between, from, to);
        for (u64 slot = thread_index(); slot < between.slots; slot += thread_count()) {
            const u64 key = fresh(between.keys[slot]);
            if (key == EMPTY) continue;
            const u64 group = from + (key >> between.width);
            const i64 at = fresh(between.sizes[group]) - written + fresh(between.places[slot]);
            between.into[at] = I(key & ((1ull << between.width) - 1));
            between.weight[at] = fresh(between.sums[slot]);
            between.keys[slot] = EMPTY;
            between.sums[slot] = 0;
        }
        meet_grid(between.arrived);
        from = to;
    }
}
