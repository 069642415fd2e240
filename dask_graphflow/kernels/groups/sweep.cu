// A sweep of Louvain or Leiden in one launch: vertices move to the label with the best score, class after class.
// host.py has the twin. All vertices of a class choose before any of them moves.
//
// Several short rows are compared by a warp. Longer ones are summed in tables, as tables.cuh describes.
#include "common.cuh"
#include "edges.cuh"
#include "gang.cuh"
#include "groups.cuh"
#include "tables.cuh"

constexpr u32 CLASSES = 8, EACH = 1 + KINDS, BINS = CLASSES * EACH;
constexpr u64 FEW_ROWS = 32;  // that a warp takes at a time
constexpr i64 FAR = 1 << 10;  // edges of a row from which on it is long
constexpr i64 PIECES = 64;    // in which as many warps wake the neighbors of a vertex with a long row

// The rest of what a sweep reads and writes. The host writes this struct.
template <typename I>
struct Sweep {
    const I* ranks;
    u64 vertices, draw;
    int* awake;
    I* labels;  // as in Groups, where they are not written
    i64* load;
    i64* skew_load;
    I* order;
    I* movers;  // those with short rows, and from the end those with long ones
    bool* alone;  // refinement: whether a vertex of the class is alone, so that nobody takes its label
    Room<I> room;
};

// The host sets all to 0.
struct Progress {
    i64 moved[2];  // vertices with short rows, and with long ones
    u64 counts[BINS], tickets[BINS];
    u32 arrived;
};

// Return the class of a vertex; operators/priorities.py has the twin.
__device__ __forceinline__ u32 drawn(u64 rank, u64 draw)
{
    return u32(hash_of(draw, rank + 1) % CLASSES);
}

template <typename I, bool REFINE>
struct Chooser : Choice<I, SCORE> {
    const Sweep<I>& sweep;

    __device__ __forceinline__ bool skipped(u64 at) const { return REFINE && !sweep.alone[sweep.order[at]]; }
};

// With REFINE, vertices move only while they are alone in their own group, and nobody joins a vertex that may move at
// the same time.
template <typename I, bool REFINE>
__global__ void __launch_bounds__(GANG, 2) sweep(Groups<I, SCORE> groups, Sweep<I> sweep, Progress* progress)
{
    __shared__ u64 cuts[BINS + 1];
    const i64* offsets = groups.out.offsets;
    const auto bin = [&](u64 v) {
        if (!sweep.awake[v]) return BINS;
        const i64 size = offsets[v + 1] - offsets[v];
        return drawn(u64(sweep.ranks[v]), sweep.draw) * EACH + (size <= FEW ? 0 : 1 + kind_of(size, sweep.room.slots));
    };
    list_by_bin<BINS>(0, sweep.vertices, bin, progress->counts, &progress->arrived, sweep.order, cuts);
    if (!REFINE)  // all blocks have read it
        for (u64 v = thread_index(); v < sweep.vertices; v += thread_count()) sweep.awake[v] = 0;
    const Chooser<I, REFINE> chooser{{groups}, sweep};
    u64 before = 0;
    for (u32 turn = 0; turn < CLASSES; ++turn) {
        const u64* bins = cuts + turn * EACH;
        u64* tickets = progress->tickets + turn * EACH;
        const u64 first = bins[0], stop = bins[EACH];
        if (first == stop) continue;
        if (REFINE) {
            for (u64 at = first + thread_index(); at < stop; at += thread_count()) {
                const I v = sweep.order[at];
                sweep.alone[v] = sweep.labels[v] == v && sweep.load[v] == groups.mass[v];
            }
            meet_grid(&progress->arrived);
        }
        sum_items(chooser, bins + 1, tickets + 1, sweep.room, before);
        before += bins[EACH] - bins[EACH - 1];
        take_turns(first, bins[1], FEW_ROWS, warp_index(), warp_count(), ticket_of_warp(tickets), [&](u64 at, u64 end) {
            for (at += lane() / FEW; __any_sync(ALL_LANES, at < end); at += 32 / FEW)
                compare<FEW>(groups, at, at < end && !chooser.skipped(at));
        });
        meet_grid(&progress->arrived);
        const u64 whole = first + (stop - first + 31) / 32 * 32;
        for (u64 at = first + thread_index(); at < whole; at += thread_count()) {
            I v = 0, from = 0, to = 0;
            if (at < stop) {
                v = sweep.order[at];
                from = to = sweep.labels[v];
                if (!REFINE || sweep.alone[v]) to = groups.found[at];
                if (REFINE) sweep.alone[v] = false;
            }
            const bool far = from != to && offsets[v + 1] - offsets[v] > FAR;
            const i64 place = place_for(from != to && !far, progress->moved);
            const i64 far_place = place_for(far, progress->moved + 1);
            if (from == to) continue;
            const i64 mass = groups.mass[v];
            add_to(sweep.load + from, -mass);
            add_to(sweep.load + to, mass);
            if (sweep.skew_load) {
                add_to(sweep.skew_load + from, -groups.skew[v]);
                add_to(sweep.skew_load + to, groups.skew[v]);
            }
            sweep.labels[v] = to;
            if (!REFINE) sweep.movers[far ? sweep.vertices - 1 - far_place : place] = v;
        }
        meet_grid(&progress->arrived);
    }
    if (REFINE) return;
    // Only neighbors in other groups can be better off now.
    const auto wake = [&](bool valid, u64 v, i64 edge) {
        if (!valid) return;
        const I end = groups.out.ends[edge];
        if (sweep.labels[end] != sweep.labels[v]) sweep.awake[end] = 1;
    };
    visit_rows(
        offsets, offsets + 1, fresh(progress->moved[0]), false, [&](i64 i) { return u64(sweep.movers[i]); }, wake);
    const i64 pieces = fresh(progress->moved[1]) * PIECES;
    for (i64 i = i64(warp_index()); i < pieces; i += i64(warp_count())) {
        const I v = sweep.movers[sweep.vertices - 1 - i / PIECES];
        const i64 each = (offsets[v + 1] - offsets[v] + PIECES - 1) / PIECES, begin = offsets[v] + i % PIECES * each;
        const i64 stop = min(begin + each, offsets[v + 1]);
        for (i64 edge = begin + lane(); edge < stop; edge += 32) wake(true, v, edge);
    }
}
