// Trees of parents: find and unite, for kernels that join trees.
//
// parent[v] <= v, and a root is its own parent. A root changes only by compare-and-swap. Every other write points a
// vertex at a higher vertex on its path to the root. So if a thread reads an old parent, from L1 or because another
// thread is changing it, the old parent is still a true ancestor. A write that is lost or late costs a step and never a
// connection. Therefore plain reads are sufficient.
//
// P is the type of the parents, and I the type of the ids: int or long long.
#pragma once

// Return the root of a vertex. Vertices on the way are pointed past their parents (path halving, ECL-CC).
template <typename P>
__device__ __forceinline__ P find(P* parent, P vertex)
{
    P above = parent[vertex];
    if (above != vertex) {
        P behind = vertex;
        P beyond = parent[above];
        while (beyond != above) {
            parent[behind] = beyond;
            behind = above;
            above = beyond;
            beyond = parent[above];
        }
    }
    return above;
}

// Hook the root with the larger number onto the other root. If another thread changed the root first, continue from the
// value that the swap returned. This value is smaller than the expected root, so the loop ends, even if `find` reads
// old parents.
template <typename P>
__device__ __forceinline__ void unite(P* parent, P u, P v)
{
    P a = find(parent, u);
    P b = find(parent, v);
    while (a != b) {
        if (a < b) {
            const P lower = a;
            a = b;
            b = lower;
        }
        const P found = compare_and_swap(parent + a, a, b);
        if (found == a) return;
        a = find(parent, found);
        b = find(parent, b);
    }
}
