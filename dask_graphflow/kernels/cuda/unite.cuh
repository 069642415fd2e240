// Trees of parents: find, and unite. What a kernel that hooks uses, and what it tells the host.
//
// parent[v] <= v, and a root is its own parent. A root changes only by compare-and-swap; every other
// write points a vertex higher up its own path. So a thread that reads an old parent, from L1 or
// because another thread is at work there, reads a true ancestor, and a write that is lost or late
// costs a step and never a connection. That is why the reads are plain ones.
//
// P is the type of the parents, I that of the ids: int or long long.
#pragma once

constexpr u64 SAMPLE_BLOCK = 256;  // neighbouring edges that a sample takes together

// What a hook launch tells the host.
struct Report {
    u64 hooked;  // edges whose ends had different parents
    i64 low;     // smallest and largest id of the edges that do not lie in the forest
    i64 high;
};

// The root above a vertex; what lies on the way is pointed past its parent (path halving, ECL-CC).
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

__device__ __forceinline__ int compare_and_swap(int* at, int expected, int desired)
{
    return atomicCAS(at, expected, desired);
}

__device__ __forceinline__ i64 compare_and_swap(i64* at, i64 expected, i64 desired)
{
    return i64(atomicCAS(reinterpret_cast<u64*>(at), u64(expected), u64(desired)));
}

// Hook the higher root onto the lower one; on a lost race go on from what the swap returned, which is
// below the root that was expected: so this ends, however old the parents are that `find` reads.
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
