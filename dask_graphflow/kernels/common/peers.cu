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

// The entries of a member that others mirror, and where the mirrors are.
template <typename I>
struct Mirrored {
    u64 counts[MEMBERS];      // number of entries that each member mirrors
    const I* which[MEMBERS];  // their positions, in the order of the mirrors; null for all
    u64 begins[MEMBERS];      // where these mirrors begin in a wide column of each member
};

// Copy the entries of a column that differ to the member's part of a wide column, and mark them in a bitmap.
template <typename V>
__global__ void take_changes(const V* column, u64 count, V* wide, u32* marks)
{
    for (u64 first = thread_index() - lane(); first < count; first += thread_count()) {
        const u64 i = first + lane();
        const bool differs = i < count && column[i] != wide[i];
        if (differs) wide[i] = column[i];
        const u32 lanes = __ballot_sync(ALL_LANES, differs);
        if (lane() == 0 && lanes) marks[first / 32] |= lanes;
    }
}

// Write the member's entries that are marked, or all of them if `marks` is null, to their mirrors.
template <typename V, typename I>
__global__ void publish(const __grid_constant__ Gang gang, const __grid_constant__ Mirrored<I> mirrored,
                        const __grid_constant__ Columns<V> wide, const u32* marks)
{
    const V* own = wide.of[gang.rank];
    for (u32 step = 1; step < gang.size; ++step) {
        const u32 q = (gang.rank + step) % gang.size;
        const u64 count = mirrored.counts[q];
        const I* which = mirrored.which[q];
        V* to = wide.of[q] + mirrored.begins[q];
        const auto from = [&](u64 i) { return which ? u64(which[i]) : i; };
        if (!marks) {
            in_batches<4>(count, [&](u64 i) { return own[from(i)]; }, [&](u64 i, V value) { to[i] = value; });
            continue;
        }
        for (u64 i = thread_index(); i < count; i += thread_count()) {
            const u64 entry = from(i);
            if (marks[entry / 32] >> (entry % 32) & 1) to[i] = own[entry];
        }
    }
}

// Set the bits of the mirrors of marked vertices. The bits of all mirrors are 0 before. One warp per half of a word.
template <typename I>
__global__ void publish_marks(const __grid_constant__ Gang gang, const __grid_constant__ Mirrored<I> mirrored,
                              const __grid_constant__ Columns<u32> marks)
{
    const u32* own = marks.of[gang.rank];
    for (u32 step = 1; step < gang.size; ++step) {
        const u32 q = (gang.rank + step) % gang.size;
        const I* which = mirrored.which[q];
        const u64 begin = mirrored.begins[q], end = begin + mirrored.counts[q];
        for (u64 half = begin / 32 + thread_index() / 32; half * 32 < end; half += thread_count() / 32) {
            const u64 bit = half * 32 + lane();
            bool marked = false;
            if (bit >= begin && bit < end) {
                const u64 from = u64(which[bit - begin]);
                marked = own[from / 32] >> (from % 32) & 1;
            }
            const u32 lanes = __ballot_sync(ALL_LANES, marked);
            // The first and the last half can have bits of other members' vertices.
            if (lane() == 0 && lanes) atomicOr_system(marks.of[q] + half, lanes);
        }
    }
}
