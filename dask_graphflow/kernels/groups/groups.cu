// Groups of neighbors: host.py has the twin. Each vertex of a list takes the label whose group of neighbors has
// the largest score.
#include "common.cuh"
#include "edges.cuh"
#include "groups.cuh"

constexpr u32 SOME = 32;         // most edges of a row that as many lanes compare
constexpr u32 SLOTS = 2048;      // slots of a table in shared memory
constexpr u64 MANY = SLOTS / 2;  // most edges of a row with a table in shared memory

// Counts of rows, which the host reads.
struct Sizes {
    i64 some, many, largest;  // number of rows for tables in shared and in global memory, and size of the largest
    u64 ticket;
};

template <typename I, Rule RULE>
__global__ void few_groups(Groups<I, RULE> groups, u64 count, I* some, I* many, Sizes* sizes)
{
    i64 largest = 0;
    for (u64 base = warp_index() * 32; base < count; base += warp_count() * 32) {
        const u64 mine = base + lane();
        u64 size = 0;
        if (mine < count) {
            const auto row = groups.row(mine);
            size = u64(row.size);
            if (!size) groups.found[mine] = groups.labels[row.vertex];
        }
        for (u32 left = __ballot_sync(ALL_LANES, size > 0 && size <= FEW); left;) {
            // Each of 4 groups of lanes takes the next row that is left.
            u32 row = 32;
            for (u32 group = 0; group < 32 / FEW; ++group) {
                if (left && lane() / FEW == group) row = __ffs(left) - 1;
                left &= left - 1;
            }
            compare<FEW>(groups, base + row, row < 32);
        }
        for (u32 left = __ballot_sync(ALL_LANES, size > FEW && size <= SOME); left; left &= left - 1)
            compare<SOME>(groups, base + __ffs(left) - 1, true);
        if (size > MANY) {
            many[atomicAdd(reinterpret_cast<u64*>(&sizes->many), 1ull)] = I(mine);
            largest = max(largest, i64(size));
        } else if (size > SOME) {
            some[atomicAdd(reinterpret_cast<u64*>(&sizes->some), 1ull)] = I(mine);
        }
    }
    largest = warp_max(largest);
    if (lane() == 0 && largest) atomicMax(&sizes->largest, largest);
}

template <typename I, Rule RULE>
__global__ void __launch_bounds__(THREADS) some_groups(Groups<I, RULE> groups, const I* some, Sizes* sizes)
{
    __shared__ I keys[SLOTS];
    __shared__ typename Sums<RULE>::type sums[SLOTS];
    for (u64 i = blockIdx.x; i < u64(sizes->some); i += gridDim.x)
        sum_in_slots<I>(Choice<I, RULE>{groups}, u64(some[i]), keys, sums, Block{});
}

// Tables in global memory: each block uses one of `room` slots. A block that has finished a row takes the next one.
template <typename I, Rule RULE>
__global__ void __launch_bounds__(THREADS)
    many_groups(Groups<I, RULE> groups, const I* many, u64 room, I* keys,
                typename Sums<RULE>::type* sums, Sizes* sizes)
{
    __shared__ u64 ticket;
    for (;;) {
        if (threadIdx.x == 0) ticket = atomicAdd(&sizes->ticket, 1ull);
        __syncthreads();
        const u64 mine = ticket;
        __syncthreads();
        if (mine >= u64(sizes->many)) return;
        const u64 table = blockIdx.x * room;
        sum_in_slots<I>(Choice<I, RULE>{groups}, u64(many[mine]), keys + table, sums + table, Block{});
    }
}
