// Steps of members that share memory, for kernels that do not meet by themselves.
#include "common.cuh"
#include "counts.cuh"
#include "edges.cuh"
#include "gang.cuh"

// What the host learns in a meeting.
struct Outcome {
    Told told;
    i64 failed;  // whether the members have given up
};

// End a step: tell all members what the kernels before have counted, and wait for what they tell. The counts are in
// `sent`, or in the report of a kernel that found vertices of its member, or there are none. From then on, this member's
// list ends at `tail`, unless that is negative. One warp.
__global__ void meet(const __grid_constant__ Gang gang, const Telling* sent, const u64* report, i64 tail, Outcome* outcome)
{
    __shared__ Telling telling;
    clear(telling);
    __syncwarp();
    if (tail >= 0 && lane() == 0) gang.mail[gang.rank]->tail = u64(tail);
    if (sent && lane() == 0) telling = *sent;
    if (report && lane() == 0) {
        telling.sent[gang.rank] = report[OWNED];
        telling.edges = i64(report[LEAVING]);
    }
    __syncwarp();
    __threadfence_system();
    Told told;
    const bool fine = tell(gang, telling, told);
    if (lane() == 0) *outcome = Outcome{told, !fine};
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

// Entries of a member's column, and where they go in the columns of the others.
template <typename V, typename I>
struct Published {
    const V* own;
    u64 counts[MEMBERS];      // number of entries that each member reads
    const I* which[MEMBERS];  // which ones, in its order; null for all
    V* to[MEMBERS];
};

// Write a member's entries to the columns of the members that read them.
template <typename V, typename I>
__global__ void publish(const __grid_constant__ Gang gang, const __grid_constant__ Published<V, I> published)
{
    for (u32 step = 1; step < gang.size; ++step) {
        const u32 q = (gang.rank + step) % gang.size;
        const I* which = published.which[q];
        V* to = published.to[q];
        in_batches<4>(
            published.counts[q], [&](u64 i) { return published.own[which ? u64(which[i]) : i]; },
            [&](u64 i, V value) { to[i] = value; });
    }
}
