// Predecessors on shortest paths, once the distances are final. host.py has the twin.
#include "common.cuh"
#include "edges.cuh"
#include "gang.cuh"

// Offer each vertex as predecessor to the neighbors that a shortest path reaches through it. If such an edge joins two
// vertices at the same distance, set `level` instead. The number that is offered is in `names`, if there are any; with
// several members, it is the vertex's among all of them. `distance` has those of all members' vertices. A member notes
// in its own memory what it has offered to the vertices of others.
template <typename I, typename W>
__global__ void __launch_bounds__(THREADS)
    offer_nearer(const __grid_constant__ Gang gang, const i64* offsets, const I* ends, const W* weights, u64 rows,
                 const I* names, const double* distance, const __grid_constant__ Columns<I> predecessors, u32* level)
{
    const u64 low = u64(gang.bounds[gang.rank]);
    I* known = predecessors.of[gang.rank];
    visit_edges(offsets, rows, [&](const Span& span) {
        const double mine = span.row < rows ? distance[low + span.row] : 0;
        const I name = names && span.row < rows ? names[span.row] : I(low + span.row);
        for (i64 at = span.first; at < span.last; at += 32) {
            const u32 row = owner_of(span, at + lane());
            const double here = __shfl_sync(ALL_LANES, mine, row);
            const u64 near = low + span.row - lane() + row;
            const I offered = __shfl_sync(ALL_LANES, name, row);
            const i64 edge = at + lane();
            if (edge >= span.last || isinf(here)) continue;
            const I far = __ldcs(ends + edge);
            const double there = distance[far];
            if (__dadd_rn(here, double(__ldcs(weights + edge))) != there) continue;
            if (here == there) {
                if (u64(far) != near) *level = 1;
                continue;
            }
            if (!(offered < __ldcg(known + far))) continue;
            const u32 owner = gang.owner_of(far);
            const bool common = gang.size > 1 && owner == gang.rank;
            const I before = common ? atomicMin_system(known + far, offered) : atomicMin(known + far, offered);
            if (offered < before && owner != gang.rank) atomicMin_system(predecessors.of[owner] + far, offered);
        }
    });
}
