// Peeling: vertices with few edges left are removed, which takes an edge from each of their neighbors, until no vertex
// has few edges. host.py has the twin. All steps of all members run in one launch.
#include "common.cuh"
#include "edges.cuh"
#include "gang.cuh"

// The edges that each vertex has left, and the vertices that were removed, in this order, of each member.
template <typename I>
struct Peeling {
    const i64* offsets;
    const I* ends;  // numbers of all members' vertices
    Columns<i64> counts;
    Columns<I> lists;
};

// Remove the vertices of the lists from `begin` on, `told` by the last meeting, and append all other vertices that must
// then be removed. Afterwards `begin` is the end of the list. `removed` is called with each vertex that is removed.
template <typename I, typename Removed>
__device__ __forceinline__ void remove_all(const Peeling<I>& peeling, i64 limit, Meeting& meeting, i64& begin, Told told,
                                           Removed removed)
{
    const Gang& gang = meeting.gang;
    const I* list = peeling.lists.of[gang.rank];
    const auto step = [&](bool alone) {
        told = meeting.take(alone, [&](Telling& telling) {
            visit_rows(
                peeling.offsets, peeling.offsets + 1, meeting.end - begin, alone,
                [&](i64 i) {
                    const I vertex = __ldcg(list + begin + i);
                    removed(vertex);
                    return u64(vertex);
                },
                [&](bool valid, u64, i64 edge) {
                    bool last = false;
                    u32 owner = 0;
                    I near = 0;
                    if (valid) {
                        near = peeling.ends[edge];
                        owner = gang.locate(near);
                        u64* count = reinterpret_cast<u64*>(peeling.counts.of[owner] + near);
                        last = i64(gang.size > 1 ? atomicAdd_system(count, ~0ull) : atomicAdd(count, ~0ull)) == limit + 1;
                    }
                    give(meeting, peeling.lists, telling, last, owner, near);
                });
            begin = meeting.end;
        });
    };

    const auto stops = [&] { return !told.everywhere || meeting.failed; };
    take_steps(told.everywhere, &meeting.state->blocks, stops, step, [&] { meeting.save(begin, told); },
               [&] { meeting.load(begin, told); });
}

// Remove the vertices at the beginning of the lists. All other vertices that must then be removed are appended.
template <typename I>
__global__ void __launch_bounds__(GANG) peel_run(const __grid_constant__ Gang gang, const __grid_constant__ Peeling<I> peeling, i64 limit, Meetings* state)
{
    __shared__ Telling own[SETS];
    Meeting meeting{gang, state};
    meeting.prepare(own);
    i64 begin = 0;
    meeting.begin(0);
    const Told told = meeting.take(false, [](Telling&) {});
    remove_all(peeling, limit, meeting, begin, told, [](I) {});
    if (threadIdx.x == 0 && blockIdx.x == 0) state->end = begin;
}

// Remove all vertices, for rising limits from 0 on: at each limit, the vertices with at most `limit` edges left. `core`
// is set to the limit at which a vertex is removed. It is initially -1 for the vertices to remove.
template <typename I>
__global__ void __launch_bounds__(GANG)
    peel_all(const __grid_constant__ Gang gang, const __grid_constant__ Peeling<I> peeling, u64 vertices, int* core, Meetings* state)
{
    __shared__ Telling own[SETS];
    Meeting meeting{gang, state};
    meeting.prepare(own);
    const i64* counts = peeling.counts.of[gang.rank];
    i64 begin = 0, limit = 0;
    meeting.begin(0);
    meeting.take(false, [](Telling&) {});  // all members have their counts
    while (!meeting.failed) {
        const i64 least = meeting.take(false, [&](Telling& telling) {
            i64 least = NEVER;
            for (u64 v = thread_index(); v < vertices; v += thread_count())
                if (__ldcg(core + v) == -1) least = min(least, __ldcg(counts + v));
            least = warp_min(least);
            if (lane() == 0 && least < NEVER) atomicMin(&telling.least, least);
        }).least;
        if (least == NEVER) return;
        limit = max(limit, least);
        const Told told = meeting.take(false, [&](Telling& telling) {
            const u64 whole = (vertices + 31) / 32 * 32;
            for (u64 v = thread_index(); v < whole; v += thread_count()) {
                const bool few = v < vertices && __ldcg(core + v) == -1 && __ldcg(counts + v) <= limit;
                give(meeting, peeling.lists, telling, few, gang.rank, I(v));
            }
        });
        remove_all(peeling, limit, meeting, begin, told, [&](I vertex) { core[vertex] = int(limit); });
    }
}
