// A sweep of Louvain or Leiden in one launch: vertices move to the label with the best score, class after class.
// host_groups.py has the twin. All vertices of a class choose before any of them moves.
//
// Awake vertices are listed by class and by the size of their rows: several rows per warp, one per warp, and one per
// block with a table in shared or in global memory. Whoever is done with a row takes the next one.
#include "common.cuh"
#include "edges.cuh"
#include "gang.cuh"
#include "groups.cuh"

constexpr u32 CLASSES = 8, KINDS = 4, BINS = CLASSES * KINDS;
constexpr u32 WARPS = GANG / 32;
constexpr i64 PER_WARP = SLOTS / WARPS / 2, PER_BLOCK = SLOTS / 2;  // most edges of a row with a table in shared memory
constexpr u64 FEW_ROWS = 32, WARP_ROWS = 4;                         // rows that a warp takes at a time

// The rest of what a sweep reads and writes. The host writes this struct.
template <typename I>
struct Sweep {
    const I* ranks;
    u64 vertices, draw;
    int* awake;
    I* labels;  // as in Groups, where they are not written
    i64* load;
    I* order;
    I* movers;
    unsigned char* open;  // refinement: whether a vertex of the class is alone, so that nobody takes its label
    // Tables in global memory, for this number of blocks and of slots each. They are empty between rows.
    I* keys;
    i64* sums;
    u32* used;  // slots that are not empty, half as many as slots
    u64 tables, room;
};

// The host sets all to 0.
struct Progress {
    i64 moved;
    u64 counts[BINS], placed[BINS], tickets[BINS];
    u32 arrived;
};

// Return the class of a vertex in the low bits; operators/priorities.py has the twin.
__device__ __forceinline__ u32 drawn(u64 rank, u64 draw)
{
    u64 mixed = (rank + 1) * 0x9e3779b97f4a7c15ull + draw;
    mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9ull;
    mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebull;
    return u32((mixed ^ (mixed >> 31)) % CLASSES);
}

template <typename I>
__device__ __forceinline__ u32 bin_of(const i64* offsets, const Sweep<I>& sweep, u64 v)
{
    const i64 size = offsets[v + 1] - offsets[v];
    const u32 kind = size <= FEW ? 0 : size <= PER_WARP ? 1 : size <= PER_BLOCK ? 2 : 3;
    return drawn(u64(sweep.ranks[v]), sweep.draw) * KINDS + kind;
}

// List the awake vertices by bin. Afterwards `cuts` contains where each bin begins.
template <bool WAKES, typename I>
__device__ __forceinline__ void list_awake(const i64* offsets, const Sweep<I>& sweep, Progress* progress, u64* cuts)
{
    __shared__ u32 counts[BINS];
    if (threadIdx.x < BINS) counts[threadIdx.x] = 0;
    __syncthreads();
    for (u64 v = thread_index(); v < sweep.vertices; v += thread_count())
        if (sweep.awake[v]) atomicAdd(counts + bin_of(offsets, sweep, v), 1u);
    __syncthreads();
    if (threadIdx.x < BINS && counts[threadIdx.x]) atomicAdd(progress->counts + threadIdx.x, u64(counts[threadIdx.x]));
    meet_grid(&progress->arrived);
    if (threadIdx.x == 0) {
        cuts[0] = 0;
        for (u32 bin = 0; bin < BINS; ++bin) cuts[bin + 1] = cuts[bin] + fresh(progress->counts[bin]);
    }
    __syncthreads();
    const u64 whole = (sweep.vertices + 31) / 32 * 32;
    for (u64 v = thread_index(); v < whole; v += thread_count()) {
        const bool mine = v < sweep.vertices && sweep.awake[v];
        const u32 bin = mine ? bin_of(offsets, sweep, v) : BINS;
        const u32 same = __match_any_sync(ALL_LANES, bin);
        const u32 first = __ffs(same) - 1;
        u64 place = 0;
        if (mine && lane() == first) place = atomicAdd(progress->placed + bin, u64(__popc(same)));
        place = __shfl_sync(ALL_LANES, place, first);
        if (mine) sweep.order[cuts[bin] + place + __popc(same & lanes_before())] = I(v);
        if (mine && WAKES) sweep.awake[v] = 0;
    }
    meet_grid(&progress->arrived);
}

// Choose the label of a row by a table in global memory.
template <typename I>
__device__ __forceinline__ void sum_long_row(const Groups<I, SCORE>& groups, u64 at, const Sweep<I>& sweep)
{
    __shared__ u32 labels;
    volatile I* keys = sweep.keys + blockIdx.x * sweep.room;
    i64* sums = sweep.sums + blockIdx.x * sweep.room;
    u32* used = sweep.used + blockIdx.x * (sweep.room / 2);
    const auto row = groups.row(at);
    const I own = groups.labels[row.vertex];
    const u64 slots = min(slots_for(row.size), sweep.room);
    if (threadIdx.x == 0) labels = 0;
    __syncthreads();
    for (i64 i = threadIdx.x; i < row.size; i += blockDim.x) {
        i64 weight;
        bool added = false;
        const I label = groups.label(row, i, weight);
        if (label < 0) continue;
        const u64 slot = slot_of(label, slots, keys, added);
        if (added) used[atomicAdd(&labels, 1u)] = u32(slot);
        add_weight(sums + slot, weight);
    }
    __syncthreads();
    auto best = Best<I, SCORE>::none();
    for (u32 i = threadIdx.x; i < labels; i += blockDim.x) {
        const u32 slot = used[i];
        best.take_group(groups, row.vertex, own, keys[slot], __ldcg(sums + slot));
        keys[slot] = I(-1);
        sums[slot] = 0;
    }
    Block{}.take_all(best);
    if (threadIdx.x == 0) groups.found[at] = best.chosen(groups, row.vertex, own);
    __syncthreads();
}

// Call visit(first, stop) for the items from `first` to before `stop`, `step` at a time, by all warps or blocks. `me` of
// `all` takes the first ones without a ticket.
template <typename Next, typename Visit>
__device__ __forceinline__ void take_turns(u64 first, u64 stop, u64 step, u64 me, u64 all, Next next, Visit visit)
{
    for (u64 turn = me;; turn = all + next()) {
        const u64 at = first + turn * step;
        if (at >= stop) return;
        visit(at, min(at + step, stop));
    }
}

// Choose the label of each vertex of a class.
template <bool REFINE, typename I>
__device__ __forceinline__ void choose_labels(const Groups<I, SCORE>& groups, const Sweep<I>& sweep, const u64* cuts,
                                              u64* tickets)
{
    __shared__ I keys[SLOTS];
    __shared__ i64 sums[SLOTS];
    __shared__ u64 ticket;
    const auto skipped = [&](u64 at) { return REFINE && !sweep.open[sweep.order[at]]; };
    const auto by_block = [&](u32 kind) {
        return [=] {
            __syncthreads();  // all threads have read the last ticket
            if (threadIdx.x == 0) ticket = atomicAdd(tickets + kind, 1ull);
            __syncthreads();
            return ticket;
        };
    };
    const auto by_warp = [&](u32 kind) {
        return [=] {
            u64 mine = 0;
            if (lane() == 0) mine = atomicAdd(tickets + kind, 1ull);
            return __shfl_sync(ALL_LANES, mine, 0);
        };
    };
    if (blockIdx.x < sweep.tables)
        take_turns(cuts[3], cuts[4], 1, blockIdx.x, min(u64(gridDim.x), sweep.tables), by_block(3), [&](u64 at, u64) {
            if (!skipped(at)) sum_long_row(groups, at, sweep);
        });
    take_turns(cuts[2], cuts[3], 1, blockIdx.x, gridDim.x, by_block(2), [&](u64 at, u64) {
        if (!skipped(at)) sum_row(groups, at, keys, sums, Block{});
    });
    __syncthreads();  // the tables of warps are parts of the block's table
    const u32 part = threadIdx.x / 32 * (SLOTS / WARPS);
    take_turns(cuts[1], cuts[2], WARP_ROWS, warp_index(), warp_count(), by_warp(1), [&](u64 at, u64 stop) {
        for (; at < stop; ++at)
            if (!skipped(at)) sum_row(groups, at, keys + part, sums + part, Warp{});
    });
    take_turns(cuts[0], cuts[1], FEW_ROWS, warp_index(), warp_count(), by_warp(0), [&](u64 first, u64 stop) {
        for (; first < stop; first += 32 / FEW) {
            const u64 at = first + lane() / FEW;
            compare<FEW>(groups, at, at < stop && !skipped(at));
        }
    });
}

// With REFINE, vertices move only while they are alone in their own group, and nobody joins a vertex that may move at
// the same time.
template <typename I, bool REFINE>
__global__ void __launch_bounds__(GANG, 2) sweep(Groups<I, SCORE> groups, Sweep<I> sweep, Progress* progress)
{
    __shared__ u64 cuts[BINS + 1];
    list_awake<!REFINE>(groups.out.offsets, sweep, progress, cuts);
    for (u32 drawn = 0; drawn < CLASSES; ++drawn) {
        const u64* bins = cuts + drawn * KINDS;
        const u64 first = bins[0], stop = bins[KINDS];
        if (first == stop) continue;
        if (REFINE) {
            for (u64 at = first + thread_index(); at < stop; at += thread_count()) {
                const I v = sweep.order[at];
                sweep.open[v] = sweep.labels[v] == v && sweep.load[v] == groups.mass[v];
            }
            meet_grid(&progress->arrived);
        }
        choose_labels<REFINE>(groups, sweep, bins, progress->tickets + drawn * KINDS);
        meet_grid(&progress->arrived);
        const u64 whole = first + (stop - first + 31) / 32 * 32;
        for (u64 at = first + thread_index(); at < whole; at += thread_count()) {
            I v = 0, from = 0, to = 0;
            if (at < stop) {
                v = sweep.order[at];
                from = to = sweep.labels[v];
                if (!REFINE || sweep.open[v]) to = groups.found[at];
                if (REFINE) sweep.open[v] = 0;
            }
            const i64 place = place_for(from != to, &progress->moved);
            if (from == to) continue;
            const i64 mass = groups.mass[v];
            add_to(sweep.load + from, -mass);
            add_to(sweep.load + to, mass);
            sweep.labels[v] = to;
            if (!REFINE) sweep.movers[place] = v;
        }
        meet_grid(&progress->arrived);
    }
    if (REFINE) return;
    // Only neighbors in other groups can be better off now.
    const i64* offsets = groups.out.offsets;
    visit_rows(
        offsets, offsets + 1, fresh(progress->moved), false, [&](i64 i) { return u64(sweep.movers[i]); },
        [&](bool valid, u64 v, i64 edge) {
            if (!valid) return;
            const I end = groups.out.ends[edge];
            if (sweep.labels[end] != sweep.labels[v]) sweep.awake[end] = 1;
        });
}
