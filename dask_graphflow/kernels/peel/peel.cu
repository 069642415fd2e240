// Peeling: vertices with few edges left are removed, which takes an edge from each of their neighbors, until no vertex
// has few edges. host.py has the twin. All steps run in one launch.
#include "common.cuh"
#include "edges.cuh"
#include "gang.cuh"

struct Peeling {
    i64 begin, count;  // where the vertices of the next step begin in the list, and their number
    i64 sets[SETS];
    i64 least[SETS];  // the smallest count of the vertices that are left
    u32 arrived;
};

// Remove the `count` vertices of the list from `begin` on, and append all other vertices that must then be removed.
// Afterwards `begin` is the end of the list. `removed` is called with each vertex that is appended.
template <typename I, typename Removed>
__device__ __forceinline__ void remove_all(const i64* offsets, const I* ends, i64* counts, i64 limit, I* list,
                                           Peeling* peeling, i64* own, i64& begin, i64 count, u32& set, u32& turn,
                                           Removed removed)
{
    const auto step = [&](bool alone, i64* sets, u32 set) {
        i64* found = sets + set;
        const i64 end = begin + count;
        if (threadIdx.x == 0 && blockIdx.x == 0) sets[(set + 1) % SETS] = 0;
        visit_rows(
            offsets, offsets + 1, count, alone, [&](i64 i) { return u64(__ldcg(list + begin + i)); },
            [&](bool valid, u64, i64 edge) {
                bool last = false;
                I near = 0;
                if (valid) {
                    near = ends[edge];
                    last = i64(atomicAdd(reinterpret_cast<u64*>(counts + near), ~0ull)) == limit + 1;
                }
                const i64 place = place_for(last, found);
                if (last) {
                    list[end + place] = near;
                    removed(near);
                }
            });
        begin = end;
    };

    while (count) {
        if (count > ALONE) {
            step(false, peeling->sets, set);
            meet_grid(&peeling->arrived);
            count = fresh(peeling->sets[set]);
            set = (set + 1) % SETS;
            continue;
        }
        if (blockIdx.x == 0) {
            do {
                step(true, own, turn);
                __syncthreads();
                count = fresh(own[turn]);
                turn = (turn + 1) % SETS;
            } while (count && count <= ALONE);
            if (threadIdx.x == 0) {
                peeling->begin = begin;
                peeling->count = count;
            }
        }
        meet_grid(&peeling->arrived);
        begin = fresh(peeling->begin);
        count = fresh(peeling->count);
        meet_grid(&peeling->arrived);  // all blocks have read them before a single block does the next step
    }
}

// Remove the `count` vertices at the beginning of the list. All other vertices that must then be removed are appended.
template <typename I>
__global__ void __launch_bounds__(GANG)
    peel_run(const i64* offsets, const I* ends, i64* counts, i64 limit, I* list, Peeling* peeling)
{
    __shared__ i64 own[SETS];
    if (threadIdx.x < SETS) own[threadIdx.x] = 0;
    __syncthreads();
    i64 begin = peeling->begin;
    const i64 count = peeling->count;
    u32 set = 0, turn = 0;
    meet_grid(&peeling->arrived);  // all blocks have read them before any block writes
    remove_all(offsets, ends, counts, limit, list, peeling, own, begin, count, set, turn, [](I) {});
    if (threadIdx.x == 0 && blockIdx.x == 0) peeling->begin = begin;
}

// Remove all vertices, for rising limits from 0 on: at each limit, the vertices with at most `limit` edges left. `core`
// is set to the limit at which a vertex is removed. It is initially -1 for the vertices to remove.
template <typename I>
__global__ void __launch_bounds__(GANG)
    peel_all(const i64* offsets, const I* ends, i64* counts, u64 vertices, int* core, I* list, Peeling* peeling)
{
    __shared__ i64 own[SETS];
    if (threadIdx.x < SETS) own[threadIdx.x] = 0;
    __syncthreads();
    i64 begin = 0, limit = 0;
    u32 set = 0, turn = 0;
    for (u32 round = 0;; round = (round + 1) % SETS) {
        i64 least = NEVER;
        for (u64 v = thread_index(); v < vertices; v += thread_count())
            if (__ldcg(core + v) == -1) least = min(least, __ldcg(counts + v));
        least = gang_least(least, peeling->least + round, &peeling->arrived);
        if (least == NEVER) return;
        if (threadIdx.x == 0 && blockIdx.x == 0) peeling->least[(round + 1) % SETS] = NEVER;
        limit = max(limit, least);

        i64* found = peeling->sets + set;
        if (threadIdx.x == 0 && blockIdx.x == 0) peeling->sets[(set + 1) % SETS] = 0;
        const u64 whole = (vertices + 31) / 32 * 32;
        for (u64 v = thread_index(); v < whole; v += thread_count()) {
            const bool few = v < vertices && __ldcg(core + v) == -1 && __ldcg(counts + v) <= limit;
            const i64 place = place_for(few, found);
            if (few) {
                list[begin + place] = I(v);
                core[v] = int(limit);
            }
        }
        meet_grid(&peeling->arrived);
        const i64 count = fresh(peeling->sets[set]);
        set = (set + 1) % SETS;
        remove_all(offsets, ends, counts, limit, list, peeling, own, begin, count, set, turn,
                   [&](I near) { core[near] = int(limit); });
        meet_grid(&peeling->arrived);  // all vertices are removed before any block looks for the next limit
    }
}
