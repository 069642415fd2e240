// A sweep of Louvain or Leiden in one launch: vertices move to the label with the best score, class after class.
// host.py has the twin. All vertices of a class choose before any of them moves.
//
// Several short rows are compared by a warp. Longer ones are summed in tables, as tables.cuh describes.
//
// Members that share memory take all classes together. Each of them lists and moves its own vertices, and has a copy of
// all labels and loads. A move is applied to all copies. Vertices are named by their numbers among those of all members.
#include "common.cuh"
#include "edges.cuh"
#include "gang.cuh"
#include "groups.cuh"
#include "tables.cuh"

constexpr u32 CLASSES = 8, EACH = 1 + KINDS, BINS = CLASSES * EACH;
constexpr u64 FEW_ROWS = 32;  // that a warp takes at a time
constexpr i64 FAR = 1 << 10;  // edges of a row from which on it is long
constexpr i64 PIECES = 64;    // in which as many warps wake the neighbors of a vertex with a long row
constexpr u32 CLASS_BITS = 5;  // of a number of members

// The rest of what a sweep reads and writes. The host writes this struct. Arrays with an entry per own vertex, here and in
// Groups, are indexed by numbers too: their pointers are those of an entry for number 0. Columns are those of each member.
template <typename I>
struct Sweep {
    const I* ranks;
    u64 draw;
    I* order;
    I* movers;             // those with short rows, and from the end those with long ones; not indexed by numbers
    Columns<int> awake;    // the entries of other members' vertices tell which of them this member has woken
    Columns<I> labels;     // this member's are those in Groups, where they are not written; so are the loads
    Columns<i64> load;
    Columns<i64> skew_load;
    Columns<bool> alone;   // refinement: whether a vertex of the class is alone, so that nobody takes its label
    Room<I> room;
};

// The host sets all to 0; no member tells its least number.
struct Progress {
    Meetings meetings;
    i64 moved[2];  // vertices with short rows, and with long ones
    u64 counts[BINS], tickets[BINS];
};

// Return the class of a vertex; operators/priorities.py has the twin.
__device__ __forceinline__ u32 drawn(u64 rank, u64 draw)
{
    return u32(hash_of(draw, rank + 1) % CLASSES);
}

template <typename I, bool REFINE>
struct Chooser : Choice<I, SCORE> {
    const Sweep<I>& sweep;
    const bool* alone;

    __device__ __forceinline__ bool skipped(u64 at) const { return REFINE && !alone[sweep.order[at]]; }
};

// Set an entry of the columns of all members.
template <typename T>
__device__ __forceinline__ void set_all(const Gang& gang, const Columns<T>& columns, u64 at, T value)
{
    for (u32 q = 0; q < gang.size; ++q) columns.of[q][at] = value;
}

// Move a value from one entry to another one, in the columns of all members.
__device__ __forceinline__ void shift_all(const Gang& gang, const Columns<i64>& columns, u64 from, u64 to, i64 value)
{
    if (gang.size == 1) {
        add_to(columns.of[0] + from, -value);
        add_to(columns.of[0] + to, value);
        return;
    }
    for (u32 q = 0; q < gang.size; ++q) {
        atomicAdd_system(reinterpret_cast<u64*>(columns.of[q] + from), u64(-value));
        atomicAdd_system(reinterpret_cast<u64*>(columns.of[q] + to), u64(value));
    }
}

// Let the owner of a vertex know that it is awake. A member tells each other member once.
template <typename I>
__device__ __forceinline__ void wake_up(const Gang& gang, const Sweep<I>& sweep, u64 vertex)
{
    int* own = sweep.awake.of[gang.rank] + vertex;
    if (gang.size > 1 && !*own) {
        const u32 owner = gang.owner_of(i64(vertex));
        if (owner != gang.rank) sweep.awake.of[owner][vertex] = 1;
    }
    *own = 1;
}

// Tell which classes have vertices, of any member: bit fields of CLASS_BITS bits count the members.
__device__ __forceinline__ u64 filled_classes(const u64* cuts)
{
    u64 filled = 0;
    for (u32 turn = 0; turn < CLASSES; ++turn)
        filled |= u64(cuts[turn * EACH] < cuts[(turn + 1) * EACH]) << (turn * CLASS_BITS);
    return filled;
}

// With REFINE, vertices move only while they are alone in their own group, and nobody joins a vertex that may move at
// the same time.
template <typename I, bool REFINE>
__global__ void __launch_bounds__(GANG, 2)
    sweep(const __grid_constant__ Gang gang, Groups<I, SCORE> groups, const __grid_constant__ Sweep<I> sweep,
          Progress* progress)
{
    __shared__ u64 cuts[BINS + 1];
    Meeting meeting{gang, &progress->meetings};
    const auto meet = [&] { meeting.take(false, [](Telling&) {}); };
    const u64 low = u64(gang.bounds[gang.rank]), high = u64(gang.bounds[gang.rank + 1]);
    const i64* offsets = groups.out.offsets;
    int* awake = sweep.awake.of[gang.rank];
    const bool* alone = sweep.alone.of[gang.rank];
    const auto bin = [&](u64 v) {
        if (!awake[v]) return BINS;
        const i64 size = offsets[v + 1] - offsets[v];
        return drawn(u64(sweep.ranks[v]), sweep.draw) * EACH + (size <= FEW ? 0 : 1 + kind_of(size, sweep.room.slots));
    };
    list_by_bin<BINS>(low, high, bin, progress->counts, &progress->meetings.blocks, sweep.order, cuts);
    const i64 filled = meeting.take(false, [&](Telling& telling) {
        if (thread_index() == 0) telling.edges = i64(filled_classes(cuts));
    }).edges;
    if (!REFINE)  // all blocks have read it
        for (u64 v = thread_index(); v < u64(gang.bounds[gang.size]); v += thread_count()) awake[v] = 0;
    const Chooser<I, REFINE> chooser{{groups}, sweep, alone};
    u64 before = 0;
    for (u32 turn = 0; turn < CLASSES && !meeting.failed; ++turn) {
        if (!(filled >> turn * CLASS_BITS & (1 << CLASS_BITS) - 1)) continue;  // for all members
        const u64* bins = cuts + turn * EACH;
        u64* tickets = progress->tickets + turn * EACH;
        const u64 first = bins[0], stop = bins[EACH];
        if (REFINE) {
            for (u64 at = first + thread_index(); at < stop; at += thread_count()) {
                const I v = sweep.order[at];
                if (groups.labels[v] == v && groups.load[v] == groups.mass[v]) set_all(gang, sweep.alone, u64(v), true);
            }
            meet();
        }
        sum_items(chooser, bins + 1, tickets + 1, sweep.room, before);
        before += bins[EACH] - bins[EACH - 1];
        take_turns(first, bins[1], FEW_ROWS, warp_index(), warp_count(), ticket_of_warp(tickets), [&](u64 at, u64 end) {
            for (at += lane() / FEW; __any_sync(ALL_LANES, at < end); at += 32 / FEW)
                compare<FEW>(groups, at, at < end && !chooser.skipped(at));
        });
        meet();
        if (meeting.failed) break;
        const u64 whole = first + (stop - first + 31) / 32 * 32;
        for (u64 at = first + thread_index(); at < whole; at += thread_count()) {
            I v = 0, from = 0, to = 0;
            if (at < stop) {
                v = sweep.order[at];
                from = to = groups.labels[v];
                if (!REFINE || alone[v]) to = groups.found[at];
                if (REFINE && alone[v]) set_all(gang, sweep.alone, u64(v), false);
            }
            const bool far = from != to && offsets[v + 1] - offsets[v] > FAR;
            const i64 place = place_for(from != to && !far, progress->moved);
            const i64 far_place = place_for(far, progress->moved + 1);
            if (from == to) continue;
            shift_all(gang, sweep.load, u64(from), u64(to), groups.mass[v]);
            if (groups.skew) shift_all(gang, sweep.skew_load, u64(from), u64(to), groups.skew[v]);
            set_all(gang, sweep.labels, u64(v), to);
            if (!REFINE) sweep.movers[far ? high - low - 1 - u64(far_place) : u64(place)] = v;
        }
        meet();
    }
    if (meeting.failed) return;
    if (!REFINE) {
        // Only neighbors in other groups can be better off now.
        const auto wake = [&](bool valid, u64 v, i64 edge) {
            if (!valid) return;
            const I end = groups.out.ends[edge];
            if (groups.labels[end] != groups.labels[v]) wake_up(gang, sweep, u64(end));
        };
        visit_rows(
            offsets, offsets + 1, fresh(progress->moved[0]), false, [&](i64 i) { return u64(sweep.movers[i]); }, wake);
        const i64 pieces = fresh(progress->moved[1]) * PIECES;
        for (i64 i = i64(warp_index()); i < pieces; i += i64(warp_count())) {
            const I v = sweep.movers[i64(high - low) - 1 - i / PIECES];
            const i64 each = (offsets[v + 1] - offsets[v] + PIECES - 1) / PIECES, begin = offsets[v] + i % PIECES * each;
            const i64 stop = min(begin + each, offsets[v + 1]);
            for (i64 edge = begin + lane(); edge < stop; edge += 32) wake(true, v, edge);
        }
    }
    meeting.take(false, [&](Telling& telling) {
        if (thread_index() == 0) telling.sent[gang.rank] = u64(fresh(progress->moved[0]) + fresh(progress->moved[1]));
    });
}
