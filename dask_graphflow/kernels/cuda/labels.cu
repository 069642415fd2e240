// Label propagation: host_labels.py has the twin. Each vertex takes the label that most of its neighbours have,
// the smallest of several.
//
// Labels of short rows are compared lane with lane. Those of longer ones are counted in a hash table, in shared
// memory where it has room for the row, which is a block's then; else in memory.
#include "common.cuh"
#include "edges.cuh"

constexpr u32 FEW = 8, SOME = 32;     // labels that so many lanes compare
constexpr u32 SLOTS = 2048;           // of a table in shared memory
constexpr u64 MANY = SLOTS / 2;       // labels that it has room for
constexpr u32 ALL_WARPS = THREADS / 32;

// The rows of a range: of what leaves it, and of what enters it where that is not the same.
template <typename I>
struct Neighbours {
    const i64* out_offsets;
    const I* out_ends;
    const i64* in_offsets;  // null: the same
    const I* in_ends;

    struct Row {
        i64 out, in, size, split;
    };

    __device__ __forceinline__ Row row(u64 at) const
    {
        Row row{out_offsets[at], 0, out_offsets[at + 1], 0};
        row.split = row.size -= row.out;
        if (in_offsets) {
            row.in = in_offsets[at];
            row.size += in_offsets[at + 1] - row.in;
        }
        return row;
    }

    __device__ __forceinline__ u64 end(const Row& row, i64 i) const
    {
        return u64(i < row.split ? out_ends[row.out + i] : in_ends[row.in + i - row.split]);
    }
};

// How often a label was found; of two, the better one has more, or is smaller.
template <typename I>
struct Best {
    i64 count;
    I label;

    __device__ __forceinline__ void take(const Best& other)
    {
        if (other.count > count || (other.count == count && other.label < label)) *this = other;
    }

    // Take the best of WIDTH neighbouring lanes.
    template <u32 WIDTH>
    __device__ __forceinline__ void take_all()
    {
#pragma unroll
        for (u32 step = WIDTH / 2; step; step /= 2)
            take({__shfl_xor_sync(ALL_LANES, count, step), __shfl_xor_sync(ALL_LANES, label, step)});
    }
};

// What the host is told, and counts rows by.
struct Sizes {
    i64 changed, some, many, largest;  // rows for tables in shared memory and in memory, and the largest of these
    u64 ticket;
};

// Compare the labels of a row with WIDTH lanes; 32 / WIDTH rows at once. Rows of 0 labels are none.
template <u32 WIDTH, typename I>
__device__ __forceinline__ I compared(const Neighbours<I>& neighbours, u64 at, bool mine, const I* labels)
{
    const u32 me = lane() % WIDTH, group = u32(~0ull >> (64 - WIDTH)) << (lane() - me);
    I label = I(-1);
    if (mine) {
        const auto row = neighbours.row(at);
        if (me < row.size) label = labels[neighbours.end(row, me)];
    }
    const u32 same = __match_any_sync(ALL_LANES, label) & group;
    Best<I> best{label < 0 ? 0 : __popc(same), label};
    best.template take_all<WIDTH>();
    return best.label;
}

template <typename I>
__global__ void few_labels(Neighbours<I> neighbours, u64 rows, u64 first, const I* labels, I* found, I* some, I* many,
                           Sizes* sizes)
{
    i64 changed = 0, largest = 0;
    for (u64 base = warp_index() * 32; base < rows; base += warp_count() * 32) {
        const u64 mine = base + lane();
        const u64 size = mine < rows ? u64(neighbours.row(mine).size) : 0;
        if (mine < rows && !size) found[first + mine] = labels[first + mine];
        for (u32 left = __ballot_sync(ALL_LANES, size > 0 && size <= FEW); left;) {
            // Each of 4 groups of lanes takes the next row that is left.
            u32 row = 32;
            for (u32 group = 0; group < 32 / FEW; ++group) {
                if (left && lane() / FEW == group) row = __ffs(left) - 1;
                left &= left - 1;
            }
            const u64 at = first + base + row;
            const I label = compared<FEW>(neighbours, base + row, row < 32, labels);
            if (row < 32 && lane() % FEW == 0) {
                found[at] = label;
                changed += label != labels[at];
            }
        }
        for (u32 left = __ballot_sync(ALL_LANES, size > FEW && size <= SOME); left; left &= left - 1) {
            const u64 row = base + __ffs(left) - 1;
            const I label = compared<SOME>(neighbours, row, true, labels);
            if (lane() == 0) {
                found[first + row] = label;
                changed += label != labels[first + row];
            }
        }
        if (size > MANY) {
            many[atomicAdd(reinterpret_cast<u64*>(&sizes->many), 1ull)] = I(mine);
            largest = max(largest, i64(size));
        } else if (size > SOME) {
            some[atomicAdd(reinterpret_cast<u64*>(&sizes->some), 1ull)] = I(mine);
        }
    }
    changed = warp_sum(changed);
    largest = warp_max(largest);
    if (lane() == 0 && changed) add_to(&sizes->changed, changed);
    if (lane() == 0 && largest) atomicMax(&sizes->largest, largest);
}

__device__ __forceinline__ int swap_key(int* at, int expected, int desired) { return atomicCAS(at, expected, desired); }
__device__ __forceinline__ i64 swap_key(i64* at, i64 expected, i64 desired)
{
    return i64(atomicCAS(reinterpret_cast<u64*>(at), u64(expected), u64(desired)));
}

// Count the labels of a row in a table that has room for twice as many. All threads of a block.
template <typename I>
__device__ __forceinline__ void count_row(const Neighbours<I>& neighbours, u64 at, u64 first, const I* labels, I* found,
                                          volatile I* keys, volatile u32* counts, Sizes* sizes)
{
    __shared__ Best<I> bests[ALL_WARPS];
    const auto row = neighbours.row(at);
    u64 slots = 64;
    while (slots < u64(row.size) * 2) slots *= 2;
    for (u64 slot = threadIdx.x; slot < slots; slot += blockDim.x) {
        keys[slot] = I(-1);
        counts[slot] = 0;
    }
    __syncthreads();
    for (i64 i = threadIdx.x; i < row.size; i += blockDim.x) {
        const I label = labels[neighbours.end(row, i)];
        // Fibonacci hashing: labels are small numbers, often in a row.
        u64 slot = (u64(label) * 0x9e3779b97f4a7c15ull >> 20) & (slots - 1);
        for (;; slot = (slot + 1) & (slots - 1)) {
            const I key = keys[slot];
            if (key == label) break;
            if (key >= 0) continue;
            const I held = swap_key(const_cast<I*>(keys) + slot, I(-1), label);
            if (held < 0 || held == label) break;
        }
        atomicAdd(const_cast<u32*>(counts) + slot, 1u);
    }
    __syncthreads();
    Best<I> best{0, 0};
    for (u64 slot = threadIdx.x; slot < slots; slot += blockDim.x) {
        const I key = keys[slot];
        if (key >= 0) best.take({i64(counts[slot]), key});
    }
    best.template take_all<32>();
    if (lane() == 0) bests[threadIdx.x / 32] = best;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (u32 warp = 1; warp < ALL_WARPS; ++warp) best.take(bests[warp]);
        found[first + at] = best.label;
        if (best.label != labels[first + at]) add_to(&sizes->changed, 1);
    }
    __syncthreads();
}

template <typename I>
__global__ void __launch_bounds__(THREADS)
    some_labels(Neighbours<I> neighbours, u64 first, const I* labels, I* found, const I* some, Sizes* sizes)
{
    __shared__ I keys[SLOTS];
    __shared__ u32 counts[SLOTS];
    for (u64 i = blockIdx.x; i < u64(sizes->some); i += gridDim.x)
        count_row(neighbours, u64(some[i]), first, labels, found, keys, counts, sizes);
}

// Tables in memory: each block has one of `room` slots. Who is done takes the next row.
template <typename I>
__global__ void __launch_bounds__(THREADS)
    many_labels(Neighbours<I> neighbours, u64 first, const I* labels, I* found, const I* many, u64 room, I* keys,
                u32* counts, Sizes* sizes)
{
    __shared__ u64 ticket;
    for (;;) {
        if (threadIdx.x == 0) ticket = atomicAdd(&sizes->ticket, 1ull);
        __syncthreads();
        const u64 mine = ticket;
        __syncthreads();
        if (mine >= u64(sizes->many)) return;
        count_row(neighbours, u64(many[mine]), first, labels, found, keys + blockIdx.x * room, counts + blockIdx.x * room,
                  sizes);
    }
}
