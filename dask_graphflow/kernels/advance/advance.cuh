// Advance: send messages along edges, from a frontier (push) or into all rows (pull). host.py has the twin.
// An edge program follows this text, as a struct `Op` that programs/cuda.py generates.
//
// `Walk` processes an edge. It is the same for all policies. A policy is a kernel that assigns edges to threads:
// `advance_thread`, `advance_twc`, `advance_balanced`, `advance_light` (Gunrock). In each of them, the lanes of a warp
// iterate together, so that they can append with one atomic and cull each other's vertices.
//
// A push is limited by one atomic, or at least one read, at a random address per edge. A pull of many vertices is
// limited by one random read of the column at `src` per edge. Both transfer sectors of 32 bytes, from memory or, if the
// columns fit there, from L2.
#include "common.cuh"
#include "edge_op.cuh"
#include "search.cuh"
#include "counts.cuh"
#include "cull.cuh"
#include "edges.cuh"
#include "gang.cuh"

// The rows to process, and where to put the results. The host writes this struct; every member takes 8 bytes.
template <typename Op>
struct Task {
    const i64* offsets;
    const typename Op::Index* ends;
    const typename Op::Weight* weights;
    i64 first;  // row i belongs to vertex first + i
    const typename Op::Index* items;  // the rows to process; null: all
    u64 count;                        // number of these rows
    const i64* costs;                 // for `advance_balanced`: number of edges before each of the rows, and of all
    u64 warp_from, block_from;        // for `advance_twc`: smallest rows that a warp and a block process
    const u32* frontier;              // for pull: a bitmap; null: every vertex sends
    u32* changed;                     // a bitmap
    typename Op::Index* list;         // for push: the vertices that changed
    u64 stages;                       // stages of the culling filter
    const i64* degrees;               // for push with the filter; see Degrees
    u64 owned;
    u64* report;
    u64* work;  // number of edges that each block read
};

template <typename Op, bool CULL>
struct Shared {
    u64 counts[COUNTS];
    typename Op::Index slots[CULL ? SLOTS : 1];
};

template <typename T> constexpr bool IS_FLOAT = false;
template <> constexpr bool IS_FLOAT<float> = true;
template <> constexpr bool IS_FLOAT<double> = true;

// Set a value unless it is no longer `old`, which is then set to what it is. FAR: another member's device may do so, too.
template <bool FAR = false>
__device__ __forceinline__ bool swap(float* at, float& old, float desired)
{
    const int expected = __float_as_int(old), bits = __float_as_int(desired);
    int* word = reinterpret_cast<int*>(at);
    const int found = FAR ? atomicCAS_system(word, expected, bits) : atomicCAS(word, expected, bits);
    old = __int_as_float(found);
    return found == expected;
}
template <bool FAR = false>
__device__ __forceinline__ bool swap(double* at, double& old, double desired)
{
    const u64 expected = u64(__double_as_longlong(old)), bits = u64(__double_as_longlong(desired));
    u64* word = reinterpret_cast<u64*>(at);
    const u64 found = FAR ? atomicCAS_system(word, expected, bits) : atomicCAS(word, expected, bits);
    old = __longlong_as_double(i64(found));
    return found == expected;
}

// Combine a message with a value; return whether the value changed. The value is read first, because most messages
// change nothing. A stale read returns a minimum that is too high, or too few bits, and so causes at worst an
// unnecessary atomic. FAR: other members' devices may change the value, too.
template <typename Op, bool FAR = false, typename Value>
__device__ __forceinline__ bool merge(Value* at, Value message)
{
    if constexpr (Op::SLOT == edge::Slot::ADD) {
        using U = typename edge::Unsigned<Value>::type;
        U* sum = reinterpret_cast<U*>(at);
        if (message == 0) return false;
        FAR ? atomicAdd_system(sum, U(message)) : atomicAdd(sum, U(message));
        return true;
    } else if constexpr (Op::SLOT == edge::Slot::OR) {
        using U = typename edge::Unsigned<Value>::type;
        U* bits = reinterpret_cast<U*>(at);
        if ((message & ~*at) == 0) return false;
        return (U(message) & ~(FAR ? atomicOr_system(bits, U(message)) : atomicOr(bits, U(message)))) != 0;
    } else if constexpr (!IS_FLOAT<Value>) {
        if constexpr (Op::SLOT == edge::Slot::MIN)
            return message < *at && message < (FAR ? atomicMin_system(at, message) : atomicMin(at, message));
        else
            return message > *at && message > (FAR ? atomicMax_system(at, message) : atomicMax(at, message));
    } else {
        Value old = *at;
        Value next = Op::combine(old, message);
        // A NaN stays: no message changes it, although it compares as different from itself.
        while (next != old && old == old) {
            if (swap<FAR>(at, old, next)) return true;
            next = Op::combine(old, message);
        }
        return false;
    }
}

// A lane's walk along edges. All lanes of a warp call `step` and `finish` together.
template <typename Op, bool PULL, bool CULL>
struct Walk {
    using Value = typename Op::Value;
    using Index = typename Op::Index;
    using Weight = typename Op::Weight;

    const Op& op;
    const Task<Op>& task;
    Shared<Op, CULL>& shared;
    Index own = 0;      // the row's vertex
    bool open = false;  // whether to read the row's next edge
    bool has = false;   // for pull: whether there is a message
    Value gathered = 0;
    u64 edges = 0;
    u32 appends = 0, tiles = 0;
    Leaving leaving;

    __device__ __forceinline__ Walk(const Op& op, const Task<Op>& task, Shared<Op, CULL>& shared)
        : op(op), task(task), shared(shared)
    {
        for (u32 i = threadIdx.x; i < COUNTS; i += blockDim.x) shared.counts[i] = 0;
        if constexpr (CULL)
            for (u32 i = threadIdx.x; i < SLOTS; i += blockDim.x) shared.slots[i] = Index(-1);
        __syncthreads();
    }

    // The `item`-th of the rows to process.
    __device__ __forceinline__ u64 row(u64 item) const { return task.items ? u64(task.items[item]) : item; }
    __device__ __forceinline__ u64 begins(u64 row) const { return u64(task.offsets[row]); }

    __device__ __forceinline__ void begin(bool valid, u64 row)
    {
        open = has = false;
        if (!valid) return;
        own = Index(task.first + i64(row));
        open = !PULL || op.cond(own);
    }

    __device__ __forceinline__ void step(bool valid, u64 edge)
    {
        valid = valid && open;
        if (valid) ++edges;
        const Index other = valid ? task.ends[edge] : Index(0);
        if constexpr (PULL) {
            if (!valid) return;
            if (task.frontier && !(task.frontier[u64(other) / 32] >> (u64(other) % 32) & 1)) return;
            const Value message = op.signal(other, own, weight(edge));
            gathered = has ? Op::combine(gathered, message) : message;
            has = true;
            if (Op::FIRST_HIT) open = false;
        } else {
            bool won = false;
            if (valid && op.cond(other))
                won = merge<Op>(op.target() + other, op.signal(own, other, weight(edge)));
            if constexpr (CULL) {
                const Culling<Index> culling{u32(task.stages), task.changed, shared.slots};
                won = culling.keep(won, other);
                leaving.add(Degrees{task.degrees, task.owned}, won, u64(other));
            }
            appends += append(task.list, task.report + TAIL, won, other);
        }
    }

    // The end of a row, or of the lane's part of it.
    __device__ __forceinline__ void finish()
    {
        if constexpr (PULL)
            if (has && merge<Op>(op.target() + own, gathered))
                atomicOr(task.changed + u64(own) / 32, 1u << (u64(own) % 32));
    }

    // Like `finish`, for lanes of which neighbors may have the same row: the first of them combines their messages.
    __device__ __forceinline__ void finish_together(u64 row)
    {
        if constexpr (PULL) {
            if (!__any_sync(ALL_LANES, has)) return;
#pragma unroll
            for (int d = 1; d < 32; d *= 2) {
                const Value message = __shfl_down_sync(ALL_LANES, gathered, d);
                const bool there = __shfl_down_sync(ALL_LANES, int(has), d);
                const u64 its = __shfl_down_sync(ALL_LANES, row, d);
                if (there && its == row && lane() + d < 32) {
                    gathered = has ? Op::combine(gathered, message) : message;
                    has = true;
                }
            }
            const u64 before = __shfl_up_sync(ALL_LANES, row, 1);
            if (lane() > 0 && before == row) has = false;
            finish();
        }
    }

    // Walk along a row with a warp, either alone or as one of a block's warps. The lanes begin at the `lead`-th edge
    // and advance by `stride` edges.
    __device__ __forceinline__ void go_along(u64 row, u64 lead, u64 stride)
    {
        begin(true, row);
        const u64 stop = begins(row + 1);
        // In a pull, a hit can end the row. The first hit of the row is always among the hits found.
        for (u64 base = begins(row) + lead; base < stop && __all_sync(ALL_LANES, open); base += stride)
            step(base + lane() < stop, base + lane());
        finish_together(row);
    }

    // Walk along rows, each lane along a row of its own.
    __device__ __forceinline__ void go_alone(bool valid, u64 row)
    {
        begin(valid, row);
        u64 edge = valid ? begins(row) : 0;
        const u64 stop = valid ? begins(row + 1) : 0;
        for (; __any_sync(ALL_LANES, open && edge < stop); ++edge) step(edge < stop, edge);
        finish();
    }

    // Process one edge per lane. The rows of the lanes ascend. `hit` is the last row with a message found by the warp.
    __device__ __forceinline__ void go_across(bool valid, u64 row, u64 edge, u64& hit)
    {
        constexpr bool SKIPS = PULL && Op::FIRST_HIT;
        begin(valid && !(SKIPS && row == hit), row);
        step(valid, edge);
        if constexpr (SKIPS) {
            const u32 hits = __ballot_sync(ALL_LANES, has);
            if (hits) hit = __shfl_sync(ALL_LANES, row, 31 - __clz(hits));
        }
        finish_together(valid ? row : ~0ull);
    }

    __device__ __forceinline__ Weight weight(u64 edge) const
    {
        if constexpr (Op::NEEDS_WEIGHT) return task.weights[edge];
        return Weight(1);
    }

    // Add to the report, once per launch. Each block sums up its counts first.
    __device__ __forceinline__ void end()
    {
        __syncthreads();
        atomicAdd(shared.counts + EDGES, edges);
        if (appends && lane() == 0) atomicAdd(shared.counts + APPENDS, u64(appends));
        if constexpr (CULL) leaving.report(shared.counts);
        if (tiles) atomicAdd(shared.counts + TILES, u64(tiles));
        __syncthreads();
        if (threadIdx.x == EDGES) task.work[blockIdx.x] = shared.counts[EDGES];
        if (threadIdx.x < COUNTS && shared.counts[threadIdx.x])
            atomicAdd(task.report + threadIdx.x, shared.counts[threadIdx.x]);
    }
};

// One thread per row. A tile is the 32 rows of a warp.
template <typename Op, bool PULL, bool CULL>
__global__ void __launch_bounds__(THREADS) advance_thread(Op op, Task<Op> task)
{
    __shared__ Shared<Op, CULL> shared;
    Walk<Op, PULL, CULL> walk(op, task, shared);
    for (u64 first = thread_index() - lane(); first < task.count; first += thread_count()) {
        const u64 item = first + lane();
        const bool valid = item < task.count;
        walk.go_alone(valid, valid ? walk.row(item) : 0);
        if (lane() == 0) ++walk.tiles;
    }
    walk.end();
}

// A block processes each long row, then a warp each row of medium length, then a thread each short row (Merrill). A
// tile is the THREADS rows that a block sorts into these three classes.
template <typename Op, bool PULL, bool CULL>
__global__ void __launch_bounds__(THREADS) advance_twc(Op op, Task<Op> task)
{
    __shared__ Shared<Op, CULL> shared;
    __shared__ u64 large[THREADS];
    __shared__ u32 larges;
    Walk<Op, PULL, CULL> walk(op, task, shared);
    for (u64 first = u64(blockIdx.x) * THREADS; first < task.count; first += u64(gridDim.x) * THREADS) {
        const u64 item = first + threadIdx.x;
        const bool valid = item < task.count;
        const u64 row = valid ? walk.row(item) : 0;
        const u64 size = valid ? walk.begins(row + 1) - walk.begins(row) : 0;
        const bool blocks = valid && size >= task.block_from;
        const bool warps = valid && !blocks && size >= task.warp_from;
        const bool threads = valid && !blocks && !warps;
        if (threadIdx.x == 0) larges = 0;
        __syncthreads();
        if (blocks) large[atomicAdd(&larges, 1u)] = row;
        __syncthreads();
        for (u32 i = 0; i < larges; ++i) walk.go_along(large[i], threadIdx.x / 32 * 32, THREADS);
        const u32 medium = __ballot_sync(ALL_LANES, warps);
        for (u32 left = medium; left; left &= left - 1)
            walk.go_along(__shfl_sync(ALL_LANES, row, __ffs(left) - 1), 0, 32);
        walk.go_alone(threads, row);
        const u32 small = __ballot_sync(ALL_LANES, threads);
        if (lane() == 0) {
            atomicAdd(shared.counts + MEDIUM, u64(__popc(medium)));
            atomicAdd(shared.counts + SMALL, u64(__popc(small)));
        }
        if (threadIdx.x == 0) {
            shared.counts[LARGE] += larges;
            ++walk.tiles;
        }
        __syncthreads();  // needed before `larges` is cleared
    }
    walk.end();
}

// All blocks process the same number of edges, and find the rows of these edges in `costs`. A tile is TILE edges.
template <typename Op, bool PULL, bool CULL>
__global__ void __launch_bounds__(THREADS) advance_balanced(Op op, Task<Op> task)
{
    __shared__ Shared<Op, CULL> shared;
    Walk<Op, PULL, CULL> walk(op, task, shared);
    const u64 edges = u64(task.costs[task.count]);
    const u64 low = edges / gridDim.x * blockIdx.x + min(u64(blockIdx.x), edges % gridDim.x);
    const u64 high = low + edges / gridDim.x + (blockIdx.x < edges % gridDim.x);
    for (u64 tile = low; tile < high; tile += TILE) {
        u64 hit = ~0ull;
        each_of_tile(task.costs, task.count, tile, min(tile + TILE, high), [&](u64 item, u64 edge, bool valid) {
            const u64 row = valid ? walk.row(item) : 0;
            walk.go_across(valid, row, valid ? walk.begins(row) + edge - u64(task.costs[item]) : 0, hit);
        });
        if (threadIdx.x == 0) ++walk.tiles;
    }
    walk.end();
}

// Like `advance_balanced`, but only within each THREADS rows, which are a tile. The block sums up the sizes of these
// rows itself, so that no sums are needed beforehand.
template <typename Op, bool PULL, bool CULL>
__global__ void __launch_bounds__(THREADS) advance_light(Op op, Task<Op> task)
{
    __shared__ Shared<Op, CULL> shared;
    __shared__ i64 before[THREADS + 1];  // number of edges before each row, and of all rows
    __shared__ u64 rows[THREADS];
    __shared__ i64 sums[THREADS / 32];
    Walk<Op, PULL, CULL> walk(op, task, shared);
    for (u64 first = u64(blockIdx.x) * THREADS; first < task.count; first += u64(gridDim.x) * THREADS) {
        const u64 item = first + threadIdx.x;
        const bool valid = item < task.count;
        const u64 row = valid ? walk.row(item) : 0;
        rows[threadIdx.x] = row;
        i64 upto = running_sum(valid ? i64(walk.begins(row + 1) - walk.begins(row)) : 0);
        if (lane() == 31) sums[threadIdx.x / 32] = upto;
        __syncthreads();
        for (u32 warp = 0; warp < threadIdx.x / 32; ++warp) upto += sums[warp];
        before[threadIdx.x + 1] = upto;
        if (threadIdx.x == 0) before[0] = 0;
        __syncthreads();
        const u64 edges = u64(before[THREADS]);
        u64 hit = ~0ull;
        for (u64 base = threadIdx.x / 32 * 32; base < edges; base += THREADS) {
            const u64 edge = base + lane();
            const bool there = edge < edges;
            const u64 at = there ? last_at_most(before, 0, THREADS - 1, i64(edge)) : 0;
            const u64 its = rows[at];
            walk.go_across(there, its, there ? walk.begins(its) + edge - u64(before[at]) : 0, hit);
        }
        if (threadIdx.x == 0) ++walk.tiles;
        __syncthreads();  // needed before the sums are overwritten
    }
    walk.end();
}

// Do what a program does with the vertices of a list, and list those that are in the next frontier. `length` points at
// their number, which is at most `count`. It is null if the number is `count`.
template <typename Op>
__global__ void __launch_bounds__(THREADS)
    advance_after(Op op, const typename Op::Index* vertices, u64 count, const u64* length, i64 step,
                  typename Op::Index* kept, Degrees degrees, u64* report)
{
    if (length) count = min(count, *length);
    Leaving leaving;
    for (u64 first = thread_index() - lane(); first < count; first += thread_count()) {
        const bool valid = first + lane() < count;
        const typename Op::Index vertex = valid ? vertices[first + lane()] : 0;
        const bool keep = valid && op.after(vertex, step);
        leaving.add(degrees, keep, u64(vertex));
        append(kept, report + TAIL, keep, vertex);
    }
    leaving.report(report);
}

// Do the same with the vertices of a bitmap, and leave only those in it that are in the next frontier. One warp per word.
template <typename Op>
__global__ void __launch_bounds__(THREADS)
    advance_after_words(Op op, u64* words, u64 size, i64 step, Degrees degrees, u64* report)
{
    Leaving leaving;
    u64 vertices = 0;
    for (u64 i = thread_index() / 32; i < size; i += thread_count() / 32) {
        const u64 word = words[i];
        if (!word) continue;
        u64 left = 0;
#pragma unroll
        for (u32 half = 0; half < 64; half += 32) {
            const u64 vertex = i * 64 + half + lane();
            const bool keep = (word >> (half + lane()) & 1) && op.after(typename Op::Index(vertex), step);
            leaving.add(degrees, keep, vertex);
            left |= u64(__ballot_sync(ALL_LANES, keep)) << half;
        }
        if (lane() == 0) {
            words[i] = left;
            vertices += __popcll(left);
        }
    }
    if (lane() == 0 && vertices) atomicAdd(report + TAIL, vertices);
    leaving.report(report);
}

// Send the values of changed mirrors to the members that own the vertices, and mark all vertices that changed in their
// owners' bitmaps. `positions` are those of masters and mirrors, and `slots` the numbers of the mirrors' vertices. Unless
// `emptied` is null, these mirrors are then `neutral` in it.
template <typename Op, typename I>
__global__ void __launch_bounds__(THREADS)
    advance_deliver(const __grid_constant__ Gang gang, const typename Op::Index* positions, u64 count, const I* slots,
                    const __grid_constant__ Columns<typename Op::Value> targets,
                    const __grid_constant__ Columns<u32> marks, typename Op::Value* emptied,
                    typename Op::Value neutral)
{
    const u64 owned = u64(gang.bounds[gang.rank + 1] - gang.bounds[gang.rank]);
    for (u64 i = thread_index(); i < count; i += thread_count()) {
        const u64 position = u64(positions[i]);
        u32 owner = gang.rank;
        u64 there = position;
        if (position >= owned) {
            I vertex = slots[position - owned];
            owner = gang.locate(vertex);
            there = u64(vertex);
            // Messages that add up to 0 change a sum, as each of them does.
            const bool changes = merge<Op, true>(targets.of[owner] + there, targets.of[gang.rank][position]);
            if (emptied) emptied[position] = neutral;
            if (!changes && Op::SLOT != edge::Slot::ADD) continue;
        }
        atomicOr_system(marks.of[owner] + there / 32, 1u << (there % 32));
    }
}

// Supersteps that a launch has pushed: what the host reads afterwards, and what the blocks share.
struct Ran {
    Meetings meetings;  // `begin` and `end` are those of the next frontier in the member's list
    i64 steps, left;
};

// A push that goes on by itself while frontiers are small. It ends before a superstep that has more than `most_edges`
// edges, or a row longer than `longest`, or whose edges times `dense` are more than `left`. These are numbers of all
// members, which share memory.
template <typename Op>
struct Run {
    const i64* offsets;
    const typename Op::Index* ends;  // numbers of all members' vertices
    const typename Op::Weight* weights;
    const typename Op::Index* frontier;  // the member's vertices in the first frontier
    i64 count, everywhere;               // number of these vertices, and of those of all members
    u64 ring;                            // see give()
    u64 stamp;                           // the last superstep before this launch
    typename Op::Value* before;          // a copy of the target that messages read; null: none
    i64 first_step;                      // number of supersteps before this launch
    i64 most_steps, most_edges, longest;
    i64 dense, left, shrinking;
    Ran* ran;
    i64* trace;  // for each superstep, the size of its frontier and its edges
};

// What a run needs of all members' vertices.
template <typename Op>
struct RunColumns {
    Columns<typename Op::Index> lists;  // the vertices that changed, or that are kept
    Columns<typename Op::Value> targets;
    Columns<u32> stamps;  // for each vertex, the last superstep that listed it
    Columns<const i64> offsets;
};

// The columns of `op` are indexed by the numbers of vertices.
template <typename Op>
__global__ void __launch_bounds__(GANG) advance_run(Op op, Run<Op> run, const __grid_constant__ Gang gang,
                                                    const __grid_constant__ RunColumns<Op> columns)
{
    using Index = typename Op::Index;
    __shared__ Telling own[SETS];
    Ran* ran = run.ran;
    Meeting meeting{gang, &ran->meetings};
    meeting.prepare(own);
    const Index* list = columns.lists.of[gang.rank];
    const Index low = Index(gang.bounds[gang.rank]);
    i64 begin = 0, steps = 0, left = run.left;
    const auto size_of = [&](u32 owner, Index vertex) {
        const i64* offset = columns.offsets.of[owner] + u64(vertex);
        return offset[1] - offset[0];
    };
    meeting.begin(0);
    Told next = meeting.take(false, [&](Telling& telling) {
        Measured measured;
        for (i64 i = i64(thread_index()); i < run.count; i += i64(thread_count()))
            measured.add(true, size_of(gang.rank, run.frontier[i]));
        measured.tell(telling);
    });
    next.everywhere = run.everywhere;

    const auto stops = [&] {
        const bool large = next.edges > run.most_edges || next.edges * run.dense > left || next.largest > run.longest;
        return !next.everywhere || steps == run.most_steps || large || meeting.failed;
    };
    const auto push = [&](bool alone, Telling& telling) {
        const u32 stamp = u32(run.stamp + 1 + u64(steps));
        Measured measured;
        visit_rows(
            run.offsets, run.offsets + 1, steps ? meeting.end - begin : run.count, alone,
            [&](i64 i) { return u64(steps ? __ldcg(list + (u64(begin + i) & run.ring)) : run.frontier[i]); },
            [&](bool valid, u64 near, i64 edge) {
                bool won = false;
                u32 owner = 0;
                Index far = 0;
                if (valid) {
                    far = run.ends[edge];
                    typename Op::Weight weight(1);
                    if constexpr (Op::NEEDS_WEIGHT) weight = run.weights[edge];
                    if (op.cond(far)) {
                        const typename Op::Value message = op.signal(Index(low + Index(near)), far, weight);
                        owner = gang.locate(far);
                        typename Op::Value* at = columns.targets.of[owner] + far;
                        u32* last = columns.stamps.of[owner] + far;
                        if (gang.size > 1)
                            won = merge<Op, true>(at, message) && atomicExch_system(last, stamp) != stamp;
                        else
                            won = merge<Op>(at, message) && atomicExch(last, stamp) != stamp;
                        if (won && !Op::AFTER) measured.add(true, size_of(owner, far));
                    }
                }
                give(meeting, columns.lists, telling, won, owner, far, run.ring);
            });
        measured.tell(telling);
        begin = meeting.end;
    };
    // Call f(valid, vertex) for the vertices of the list from `begin` on. All lanes of a warp call it together.
    const auto each = [&](bool alone, auto f) {
        const i64 stride = alone ? i64(blockDim.x) : i64(thread_count()), end = meeting.end;
        for (i64 i = begin + (alone ? i64(threadIdx.x) : i64(thread_index())) - lane(); i < end; i += stride) {
            const bool valid = i + lane() < end;
            const Index vertex = valid ? __ldcg(list + (u64(i + lane()) & run.ring)) : Index(0);
            // Messages of the next superstep read what this one wrote.
            if (valid && run.before) run.before[vertex] = __ldcg(columns.targets.of[gang.rank] + vertex);
            f(valid, vertex);
        }
    };
    const auto step = [&](bool alone) {
        if (threadIdx.x == 0 && blockIdx.x == 0) {
            run.trace[2 * steps] = next.everywhere;
            run.trace[2 * steps + 1] = next.edges;
        }
        if (run.shrinking) left -= next.edges;
        next = meeting.take(alone, [&](Telling& telling) { push(alone, telling); });
        ++steps;
        if constexpr (Op::AFTER) {
            next = meeting.take(alone, [&](Telling& telling) {
                Measured measured;
                each(alone, [&](bool valid, Index vertex) {
                    const bool kept = valid && op.after(Index(low + vertex), run.first_step + steps);
                    if (kept) measured.add(true, size_of(gang.rank, vertex));
                    give(meeting, columns.lists, telling, kept, gang.rank, vertex, run.ring);
                });
                measured.tell(telling);
                begin = meeting.end;
            });
        } else if (run.before) {
            // No member pushes to a vertex before its value is copied.
            meeting.take(alone, [&](Telling&) { each(alone, [](bool, Index) {}); });
        }
    };
    const auto save = [&] {
        meeting.save(begin, next);
        ran->steps = steps;
        ran->left = left;
    };
    const auto load = [&] {
        meeting.load(begin, next);
        steps = fresh(ran->steps);
        left = fresh(ran->left);
    };
    take_steps(next.everywhere, &ran->meetings.blocks, stops, step, save, load);
    // If other blocks still read these numbers, they were written before, and are the same.
    if (threadIdx.x == 0 && blockIdx.x == 0) save();
}
