// Lists that warps append to, and the counts that a launch reports to the host.
#pragma once

// Append the vertices of a warp's lanes with one atomic; return the number of atomics. All lanes call this together.
template <typename Index>
__device__ __forceinline__ u32 append(Index* list, u64* tail, bool alive, Index vertex)
{
    const u32 lanes = __ballot_sync(ALL_LANES, alive);
    if (!lanes) return 0;
    const i64 place = place_for(alive, reinterpret_cast<i64*>(tail));
    if (alive) list[place] = vertex;
    return 1;
}

// Indices of the numbers that an advance reports to the host. OWNED and LEAVING are the number of listed vertices that
// the member owns, and the number of edges that leave them. The filter has a report of its own.
enum Count : u32 { TAIL, EDGES, TILES, APPENDS, SMALL, MEDIUM, LARGE, OWNED, LEAVING, COUNTS };

// The degrees of the vertices that a member owns, whose positions begin at 0. Other vertices are mirrors.
struct Degrees {
    const i64* of;
    u64 owned;  // 0 if nobody asks for the counts
};

// Counts of listed vertices, per thread.
struct Leaving {
    u64 owned = 0, edges = 0;

    __device__ __forceinline__ void add(const Degrees& degrees, bool listed, u64 vertex)
    {
        if (!listed || vertex >= degrees.owned) return;
        ++owned;
        edges += u64(degrees.of[vertex]);
    }

    // Add the counts of a warp to a report. All lanes call this together.
    __device__ __forceinline__ void report(u64* report) const
    {
        const u32 any = __ballot_sync(ALL_LANES, owned > 0);
        if (!any) return;
        const u64 vertices = warp_sum(owned), all = warp_sum(edges);
        if (lane() == 0) {
            atomicAdd(report + OWNED, vertices);
            atomicAdd(report + LEAVING, all);
        }
    }
};
