// A gang: a grid whose blocks all run at once, so that they can wait for each other. It does many steps in one launch.
// The first block does short steps alone, so it need not wait for other blocks. A launch that the host waits for takes
// about 20 us, a barrier of the grid 2 us, and a barrier of a block less than 0.1 us.
//
// Each step counts into one of three sets of numbers, in turn. All blocks read a set after the barrier that ends its
// step. The set is cleared two steps after its own, before the step that counts into it again.
#pragma once

#ifndef GANG
#define GANG 512  // threads per block
#endif

[[maybe_unused]] constexpr u32 SETS = 3;
[[maybe_unused]] constexpr i64 ALONE = GANG / 2;  // up to this many items, one block is as fast as all blocks
[[maybe_unused]] constexpr u32 SHARES = 4;        // lanes per item for short rows

// Read a value that other threads write, in shared memory or in global memory past L1.
template <typename T>
__device__ __forceinline__ T fresh(const T& from)
{
    return *static_cast<const volatile T*>(&from);
}

__device__ __forceinline__ Listed fresh_of(const Listed& from)
{
    return {fresh(from.count), fresh(from.edges), fresh(from.largest)};
}

// Wait for all blocks. Afterwards all threads see earlier writes of any thread, if they read past L1.
__device__ __forceinline__ void meet_grid(u32* arrived)
{
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        const u32 ticket = atomicAdd(arrived, 1u);
        const u32 goal = (ticket / gridDim.x + 1) * gridDim.x;
        while (int(fresh(*arrived) - goal) < 0) __nanosleep(32);
        __threadfence();
    }
    __syncthreads();
}

// Return the smallest of the values that all threads of the gang have. `found` is NEVER initially.
[[maybe_unused]] constexpr i64 NEVER = 0x7fffffffffffffffll;
__device__ __forceinline__ i64 gang_least(i64 value, i64* found, u32* arrived)
{
    value = warp_min(value);
    if (lane() == 0 && value < NEVER) atomicMin(found, value);
    meet_grid(arrived);
    return fresh(*found);
}

// Appends vertices to a list, and counts them and the edges in their rows. All lanes of a warp call its functions
// together.
template <typename I>
struct Listing {
    const i64* offsets;
    I* list;
    Listed* counts;
    i64 edges = 0, largest = 0;  // of the lane's vertices

    __device__ __forceinline__ void measure(bool mine, I vertex)
    {
        if (!mine) return;
        const i64 size = offsets[u64(vertex) + 1] - offsets[u64(vertex)];
        edges += size;
        largest = max(largest, size);
    }

    __device__ __forceinline__ void append(bool mine, I vertex)
    {
        const i64 place = place_for(mine, &counts->count);
        if (mine) list[place] = vertex;
        measure(mine, vertex);
    }

    // Add to the counts what the lanes counted.
    __device__ __forceinline__ void finish()
    {
        __syncwarp();
        if (!__any_sync(ALL_LANES, edges > 0)) return;
        edges = warp_sum(edges);
        largest = warp_max(largest);
        if (lane() == 0) {
            add_to(&counts->edges, edges);
            atomicMax(&counts->largest, largest);
        }
    }
};

// The counts of a gang's steps, in turn: one set for each of the last steps of all blocks, and of the first block alone.
struct Steps {
    Listed* together;
    Listed* alone;  // in shared memory
    u32* arrived;
    u32 turn_together, turn_alone;

    // Call f(Listed* counts) with counts that are 0. Return them when all threads that take the step have called it.
    template <typename F>
    __device__ __forceinline__ Listed take(bool by_one_block, F f)
    {
        Listed* sets = by_one_block ? alone : together;
        u32& turn = by_one_block ? turn_alone : turn_together;
        if (threadIdx.x == 0 && blockIdx.x == 0) sets[(turn + 1) % SETS] = Listed{0, 0, 0};
        f(sets + turn);
        if (by_one_block)
            __syncthreads();
        else
            meet_grid(arrived);
        const Listed found = fresh_of(sets[turn]);
        turn = (turn + 1) % SETS;
        return found;
    }
};

// Take steps until stops() is true. step(false) is a step of all blocks, and step(true) one of the first block alone,
// which takes the steps with few items. Each step sets `items`. After several of its own, the first block calls save(),
// and then all blocks call load().
template <typename Stops, typename Step, typename Save, typename Load>
__device__ __forceinline__ void take_steps(const i64& items, u32* arrived, Stops stops, Step step, Save save, Load load)
{
    while (!stops()) {
        if (items > ALONE) {
            step(false);
            continue;
        }
        if (blockIdx.x == 0) {
            do {
                step(true);
            } while (!stops() && items <= ALONE);
            if (threadIdx.x == 0) save();
        }
        meet_grid(arrived);
        load();
    }
}

// Call visit(valid, row, edge) for the edges of `count` items. vertex(i) is the row of item i, and `begins` and `stops`
// contain where each row begins and ends. All warps of the grid share the items, or the warps of one block if it is
// `alone`. All lanes of a warp call `visit` together.
template <typename Vertex, typename Visit>
__device__ __forceinline__ void visit_rows(const i64* begins, const i64* stops, i64 count, bool alone, Vertex vertex,
                                           Visit visit)
{
    constexpr u32 ITEMS = 32 / SHARES;
    const i64 warps = alone ? blockDim.x / 32 : i64(gridDim.x) * (blockDim.x / 32);
    const i64 warp = threadIdx.x / 32 + (alone ? 0 : i64(blockIdx.x) * (blockDim.x / 32));
    for (i64 first = warp * ITEMS; first < count; first += warps * ITEMS) {
        const i64 at = first + lane() / SHARES;
        u64 mine = 0;
        i64 edge = 0, end = 0;
        if (at < count) {
            mine = vertex(at);
            edge = begins[mine];
            end = stops[mine];
        }
        const i64 rest = edge + 32;
        for (edge += lane() % SHARES; __any_sync(ALL_LANES, edge < min(end, rest)); edge += SHARES)
            visit(edge < min(end, rest), mine, edge);
        u32 longer = __ballot_sync(ALL_LANES, lane() % SHARES == 0 && rest < end);
        for (; longer; longer &= longer - 1) {
            const u32 from = __ffs(longer) - 1;
            const u64 row = __shfl_sync(ALL_LANES, mine, from);
            const i64 stop = __shfl_sync(ALL_LANES, end, from);
            for (i64 e = __shfl_sync(ALL_LANES, rest, from); e < stop; e += 32)
                visit(e + lane() < stop, row, e + lane());
        }
    }
}
