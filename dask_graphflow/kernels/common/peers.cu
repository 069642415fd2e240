// Steps of members that share memory, for kernels that do not meet by themselves.
#include "common.cuh"
#include "counts.cuh"
#include "edges.cuh"
#include "gang.cuh"

// End a step: tell all members what the kernels before have counted in `state`, and wait for what they tell. A report
// adds vertices that the member found itself, and the edges that leave them. From then on, this member's list ends at
// `tail`, unless that is negative. One warp.
__global__ void meet(const __grid_constant__ Gang gang, Meetings* state, const u64* report, i64 tail)
{
    Telling& telling = state->telling[0];
    if (tail >= 0 && lane() == 0) gang.mail[gang.rank]->tail = u64(tail);
    if (report && lane() == 0) {
        telling.sent[gang.rank] += report[OWNED];
        telling.edges += report[LEAVING];
    }
    __syncwarp();
    __threadfence_system();
    Told told;
    const bool fine = tell(gang, telling, told);
    if (lane() == 0) {
        state->told = told;
        state->failed = !fine;
    }
}

// Write a bitmap of the member's vertices to the bitmaps of all vertices that the members have.
__global__ void spread(const __grid_constant__ Gang gang, const u64* words, u64 count,
                       const __grid_constant__ Columns<u64> all)
{
    const u64 first = u64(gang.bounds[gang.rank]) / 64;
    for (u32 step = 0; step < gang.size; ++step) {
        u64* to = all.of[(gang.rank + step) % gang.size] + first;
        for (u64 i = thread_index(); i < count; i += thread_count()) to[i] = words[i];
    }
}
