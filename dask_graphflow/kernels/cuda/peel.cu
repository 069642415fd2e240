// Peeling: vertices with few edges left are removed, which takes an edge from each neighbor, until none has few.
// host_peel.py has the twin. All steps run in one launch.
#include "common.cuh"
#include "edges.cuh"
#include "gang.cuh"

struct Peeling {
    i64 begin, count;  // where the list has the vertices of the next step, and how many
    i64 sets[SETS];
    u32 arrived;
};

// The list begins with `count` vertices to remove. All others that are removed are appended.
template <typename I>
__global__ void __launch_bounds__(GANG)
    peel_run(const i64* offsets, const I* ends, i64* counts, i64 limit, I* list, Peeling* peeling)
{
    __shared__ i64 own[SETS];
    if (threadIdx.x < SETS) own[threadIdx.x] = 0;
    __syncthreads();
    i64 begin = peeling->begin, count = peeling->count;
    u32 set = 0, turn = 0;
    meet_grid(&peeling->arrived);  // all have read it, before anybody writes

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
                if (last) list[end + place] = near;
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
        meet_grid(&peeling->arrived);  // all have read it, before the next step of a single block
    }
    if (threadIdx.x == 0 && blockIdx.x == 0) peeling->begin = begin;
}
