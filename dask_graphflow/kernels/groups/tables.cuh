// Sums of weights by label for many items, such as the rows of vertices, in one launch by a gang. Choice in groups.cuh
// shows what an item is.
//
// An item is summed by a warp or a block with a table in shared memory, by a block with a table in global memory, or in
// several parts by as many blocks with a joint table. Whoever is done with an item takes the next one.
#pragma once

constexpr u32 KINDS = 4;  // of items
constexpr u32 WARPS = GANG / 32;
constexpr i64 PER_TABLE = 1 << 14;  // most edges of an item for the table of a block
constexpr u64 WARP_ITEMS = 4;       // that a warp takes at a time

// Return the kind of an item, given the number of slots of a block in shared memory.
__device__ __forceinline__ u32 kind_of(i64 edges, u32 slots)
{
    return edges <= slots / WARPS / 2 ? 0 : edges <= slots / 2 ? 1 : edges <= PER_TABLE ? 2 : 3;
}

// Tables in global memory, which are empty between items.
template <typename I>
struct Tables {
    I* keys;
    i64* sums;
    u32* used;  // slots that are not empty; there is room for all slots
    u64 count, slots;

    __device__ __forceinline__ Tables one(u64 table) const
    {
        return {keys + table * slots, sums + table * slots, used + table * slots, 1, slots};
    }
};

// The use of a joint table. Item i uses table i % count after i / count other items. The host sets all to 0.
struct Turn {
    u32 labels;    // in the table
    u32 parts;     // parts of items that are done
    u32 finished;  // items that are done
};

template <typename I>
struct Room {
    Tables<I> own;    // one per block
    Tables<I> joint;
    Turn* turns;      // one per joint table
    u32 parts;        // in how many parts an item for a joint table is summed
    u32 slots;        // of a block in shared memory
};

// List the items from `low` to before `high` by bin, in any order within a bin; bin(item) is BINS for items that are left
// out. Afterwards `cuts` contains where each bin begins. `counts` must be 0 initially. All blocks have to meet before they
// read the list.
template <u32 BINS, typename I, typename Bin>
__device__ __forceinline__ void list_by_bin(u64 low, u64 high, Bin bin, u64* counts, u32* arrived, I* order, u64* cuts)
{
    __shared__ u32 mine[BINS];
    __shared__ u64 places[BINS];
    if (threadIdx.x < BINS) mine[threadIdx.x] = 0;
    __syncthreads();
    for (u64 item = low + thread_index(); item < high; item += thread_count()) {
        const u32 its = bin(item);
        if (its < BINS) atomicAdd(mine + its, 1u);
    }
    __syncthreads();
    if (threadIdx.x < BINS) places[threadIdx.x] = atomicAdd(counts + threadIdx.x, u64(mine[threadIdx.x]));
    meet_grid(arrived);
    if (threadIdx.x < BINS) cuts[threadIdx.x + 1] = fresh(counts[threadIdx.x]);
    __syncthreads();
    if (threadIdx.x == 0) {
        cuts[0] = 0;
        for (u32 at = 0; at < BINS; ++at) cuts[at + 1] += cuts[at];
    }
    __syncthreads();
    const u64 whole = low + (high - low + 31) / 32 * 32;
    for (u64 item = low + thread_index(); item < whole; item += thread_count()) {
        const u32 its = item < high ? bin(item) : BINS;
        const u32 same = __match_any_sync(ALL_LANES, its);
        const u32 leader = __ffs(same) - 1;
        u64 place = 0;
        if (its < BINS && lane() == leader) place = atomicAdd(places + its, u64(__popc(same)));
        place = __shfl_sync(ALL_LANES, place, leader);
        if (its < BINS) order[cuts[its] + place + __popc(same & lanes_before())] = I(item);
    }
}

template <typename I, typename Item>
__device__ __forceinline__ void add_part(const Item& item, u64 at, i64 begin, i64 end, u64 slots,
                                         const Tables<I>& table, u32* labels)
{
    item.each(at, begin, end, Block{}, [&](I label, i64 weight) {
        bool added = false;
        const u64 slot = slot_of(label, slots, static_cast<volatile I*>(table.keys), added);
        if (added) table.used[atomicAdd(labels, 1u)] = u32(slot);
        add_weight(table.sums + slot, weight);
    });
}

template <typename I, typename Item>
__device__ __forceinline__ void finish_table(const Item& item, u64 at, const Tables<I>& table, u32 labels)
{
    item.finish(at, Block{}, [&](auto use) {
        for (u32 base = 0; base < labels; base += blockDim.x) {
            const u32 i = base + threadIdx.x;
            const u32 slot = i < labels ? fresh(table.used[i]) : 0;
            use(i < labels, fresh(table.keys[slot]), fresh(table.sums[slot]));
            if (i >= labels) continue;
            table.keys[slot] = I(-1);
            table.sums[slot] = 0;
        }
    });
    __syncthreads();
}

// Sum a part of an item in a joint table. The block that is last uses the sums. Items are begun in order, so this waits
// only for blocks that do not wait for this one.
template <typename I, typename Item>
__device__ __forceinline__ void sum_part(const Item& item, u64 at, u64 number, u64 part, const Room<I>& room)
{
    __shared__ bool last;
    const Tables<I> table = room.joint.one(number % room.joint.count);
    Turn* turn = room.turns + number % room.joint.count;
    if (threadIdx.x == 0) {
        while (fresh(turn->finished) != u32(number / room.joint.count)) __nanosleep(64);
        __threadfence();
    }
    __syncthreads();
    const bool skipped = item.skipped(at);
    const i64 size = skipped ? 0 : item.size(at), each = (size + room.parts - 1) / room.parts;
    const i64 begin = min(i64(part) * each, size);
    add_part(item, at, begin, min(begin + each, size), min(slots_for(size), table.slots), table, &turn->labels);
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        last = (atomicAdd(&turn->parts, 1u) + 1) % room.parts == 0;
        __threadfence();
    }
    __syncthreads();
    if (!last) return;
    if (!skipped) finish_table(item, at, table, fresh(turn->labels));
    if (threadIdx.x == 0) {
        turn->labels = 0;
        __threadfence();
        atomicAdd(&turn->finished, 1u);
    }
}

// Call visit(first, stop) for the items from `first` to before `stop`, `step` at a time. `me` of `all` takes the first
// ones without a ticket.
template <typename Next, typename Visit>
__device__ __forceinline__ void take_turns(u64 first, u64 stop, u64 step, u64 me, u64 all, Next next, Visit visit)
{
    for (u64 turn = me;; turn = all + next()) {
        const u64 at = first + turn * step;
        if (at >= stop) return;
        visit(at, min(at + step, stop));
    }
}

// Return a function that gives the next ticket to a warp.
__device__ __forceinline__ auto ticket_of_warp(u64* tickets)
{
    return [=] {
        u64 mine = 0;
        if (lane() == 0) mine = atomicAdd(tickets, 1ull);
        return __shfl_sync(ALL_LANES, mine, 0);
    };
}

// Sum all items. `cuts` contains where the items of each kind begin, and `tickets` is 0 initially, for each kind. `before`
// is the number of items that used the joint tables before.
template <typename I, typename Item>
__device__ __forceinline__ void sum_items(const Item& item, const u64* cuts, u64* tickets, const Room<I>& room, u64 before)
{
    extern __shared__ i64 shared_sums[];
    __shared__ u64 ticket;
    __shared__ u32 labels;
    I* keys = reinterpret_cast<I*>(shared_sums + room.slots);
    const auto by_block = [&](u32 kind) {
        return [=] {
            __syncthreads();  // all threads have read the last ticket
            if (threadIdx.x == 0) ticket = atomicAdd(tickets + kind, 1ull);
            __syncthreads();
            return ticket;
        };
    };
    take_turns(0, (cuts[4] - cuts[3]) * room.parts, 1, blockIdx.x, gridDim.x, by_block(3), [&](u64 turn, u64) {
        const u64 number = turn / room.parts;
        sum_part(item, cuts[3] + number, before + number, turn % room.parts, room);
    });
    if (blockIdx.x < room.own.count) {
        const Tables<I> table = room.own.one(blockIdx.x);
        const u64 all = min(u64(gridDim.x), room.own.count);
        take_turns(cuts[2], cuts[3], 1, blockIdx.x, all, by_block(2), [&](u64 at, u64) {
            if (item.skipped(at)) return;
            if (threadIdx.x == 0) labels = 0;
            __syncthreads();
            const i64 size = item.size(at);
            add_part(item, at, 0, size, min(slots_for(size), table.slots), table, &labels);
            __syncthreads();
            finish_table(item, at, table, labels);
        });
    }
    take_turns(cuts[1], cuts[2], 1, blockIdx.x, gridDim.x, by_block(1), [&](u64 at, u64) {
        if (!item.skipped(at)) sum_in_slots<I>(item, at, keys, shared_sums, Block{});
    });
    __syncthreads();  // the tables of warps are parts of the block's table
    const u32 part = threadIdx.x / 32 * (room.slots / WARPS);
    take_turns(cuts[0], cuts[1], WARP_ITEMS, warp_index(), warp_count(), ticket_of_warp(tickets), [&](u64 at, u64 stop) {
        for (; at < stop; ++at)
            if (!item.skipped(at)) sum_in_slots<I>(item, at, keys + part, shared_sums + part, Warp{});
    });
}
