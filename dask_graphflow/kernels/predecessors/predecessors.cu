// Predecessors of the vertices of a level, in 64 searches at once: host.py has the twin.
#include "common.cuh"
#include "edges.cuh"

// Set the level of vertices in the searches of their bits, and the first neighbor that each of these searches has seen.
// A warp takes a vertex, and reads 32 of its neighbors at a time. Of the lanes that see a bit, the first one writes.
template <typename I>
__global__ void __launch_bounds__(THREADS)
    set_predecessors(const i64* offsets, const I* ends, const u64* seen, const i64* vertices, const u64* bits,
                     const i64* at, u64 count, u64 columns, int depth, int* level, I* predecessor)
{
    for (u64 item = warp_index(); item < count; item += warp_count()) {
        const i64 end = offsets[vertices[item] + 1];
        u64 left = bits[item];
        for (i64 base = offsets[vertices[item]]; left && base < end; base += 32) {
            const i64 edge = base + lane();
            const I near = edge < end ? ends[edge] : I(0);
            const u64 hits = edge < end ? seen[near] & left : 0;
            u64 so_far = hits;  // the bits that this lane and those before it see
#pragma unroll
            for (u32 step = 1; step < 32; step *= 2) {
                const u64 other = __shfl_up_sync(ALL_LANES, so_far, step);
                if (lane() >= step) so_far |= other;
            }
            const u64 before = __shfl_up_sync(ALL_LANES, so_far, 1);
            for (u64 first = lane() ? hits & ~before : hits; first; first &= first - 1) {
                const u64 place = u64(__ffsll(i64(first)) - 1) * columns + u64(at[item]);
                level[place] = depth;
                predecessor[place] = near;
            }
            left &= ~__shfl_sync(ALL_LANES, so_far, 31);
        }
    }
}
