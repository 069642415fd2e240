// Groups of neighbors with the same label, and the best label for a vertex; host.py has the twin.
//
// The labels of short rows are compared lane by lane. The weights of longer rows are summed by label in a hash table.
#pragma once

[[maybe_unused]] constexpr u32 FEW = 8;       // most edges of a row that this many lanes compare

// The score of a label: the number of neighbors, the sum of their weights, or this sum less a penalty for the
// mass of the label. With SCORE, the vertex's own label wins ties, and self-loops do not count.
enum Rule { COUNT, SUM, SCORE };

// The type of the sums of a rule. 32-bit counts take less shared memory, and atomics on them are faster.
template <Rule RULE>
struct Sums { using type = i64; };
template <>
struct Sums<COUNT> { using type = u32; };

// A number below every score.
__device__ __forceinline__ double worst() { return __longlong_as_double(0xfff0000000000000ll); }

template <typename I>
struct Side {
    const i64* offsets;
    const I* ends;
    const i64* weights;  // null: 1 each
};

template <typename I, Rule RULE>
struct Groups {
    Side<I> out, in;    // in.offsets is null if there is one side only, as with SCORE
    const I* vertices;  // null: all rows
    const I* labels;
    const i64* mass;  // mass and load are null if and only if the rule is not SCORE
    const i64* load;
    const i64* skew;  // null, or the skew of each vertex, and of each label
    const i64* skew_load;
    const I* within;     // null: all neighbors count
    const bool* closed;  // null if and only if `within` is
    I* found;
    double factor;

    struct Row {
        I vertex;
        i64 out, in, size, split;
    };

    __device__ __forceinline__ Row row(u64 at) const
    {
        const I vertex = vertices ? vertices[at] : I(at);
        Row row{vertex, out.offsets[vertex], 0, out.offsets[vertex + 1], 0};
        row.split = row.size -= row.out;
        if (RULE != SCORE && in.offsets) {
            row.in = in.offsets[vertex];
            row.size += in.offsets[vertex + 1] - row.in;
        }
        return row;
    }

    // Return the label at the other end of a row's edge, or a negative number if the edge does not count. Set `weight`.
    __device__ __forceinline__ I label(const Row& row, i64 i, i64& weight) const
    {
        const bool leaves = RULE == SCORE || i < row.split;
        const Side<I>& side = leaves ? out : in;
        const i64 edge = leaves ? row.out + i : row.in + i - row.split;
        const I end = side.ends[edge];
        weight = RULE != COUNT && side.weights ? side.weights[edge] : 1;
        if (RULE != COUNT && !weight) return I(-1);
        if (RULE == SCORE && (end == row.vertex || (within && within[end] != within[row.vertex]))) return I(-1);
        return labels[end];
    }

    // Return the score of a label, without the vertex itself if `own`. There are no fused operations, as on the host.
    __device__ __forceinline__ double score(I vertex, i64 sum, I label, bool own) const
    {
        const i64 its = mass[vertex];
        double penalty = __dmul_rn(__dmul_rn(factor, double(its)), double(load[label] - (own ? its : 0)));
        if (skew) {
            const i64 turn = skew[vertex];
            const double rate = __dmul_rn(factor, double(turn));
            penalty = __dsub_rn(penalty, __dmul_rn(rate, double(skew_load[label] - (own ? turn : 0))));
        }
        return __dsub_rn(double(sum), penalty);
    }
};

// A label, its score, and with SCORE the weight of the edges to the vertex's own label. The larger score is better;
// if scores are equal, the smaller label.
template <typename I, Rule RULE>
struct Best {
    double score;  // a sum is exact as a double
    I label;
    i64 stay;

    __device__ __forceinline__ static Best none() { return {worst(), I(-1), 0}; }

    __device__ __forceinline__ void take(const Best& other)
    {
        if (other.score > score || (other.score == score && other.label >= 0 && (label < 0 || other.label < label))) {
            score = other.score;
            label = other.label;
        }
        if (RULE == SCORE) stay = max(stay, other.stay);
    }

    // Take the best of WIDTH neighboring lanes.
    template <u32 WIDTH>
    __device__ __forceinline__ void take_all()
    {
#pragma unroll
        for (u32 step = WIDTH / 2; step; step /= 2)
            take({__shfl_xor_sync(ALL_LANES, score, step), __shfl_xor_sync(ALL_LANES, label, step),
                  RULE == SCORE ? __shfl_xor_sync(ALL_LANES, stay, step) : 0});
    }

    // Take a group: a label and the sum of its weights.
    __device__ __forceinline__ void take_group(const Groups<I, RULE>& groups, I vertex, I own, I its, i64 sum)
    {
        if (RULE != SCORE)
            take({double(sum), its, 0});
        else if (its == own)
            take({worst(), I(-1), sum});
        else if (!groups.closed || !groups.closed[its])
            take({groups.score(vertex, sum, its, false), its, 0});
    }

    __device__ __forceinline__ I chosen(const Groups<I, RULE>& groups, I vertex, I own) const
    {
        if (RULE != SCORE) return label < 0 ? own : label;
        return score > groups.score(vertex, stay, own, true) ? label : own;
    }
};

// Compare the labels of a row with WIDTH lanes. A warp processes 32 / WIDTH rows at once.
template <u32 WIDTH, typename I, Rule RULE>
__device__ __forceinline__ void compare(const Groups<I, RULE>& groups, u64 at, bool mine)
{
    const u32 me = lane() % WIDTH;
    I vertex = 0, own = 0, label = I(-1);
    i64 weight = 0, sum = 0;
    if (mine) {
        const auto row = groups.row(at);
        vertex = row.vertex;
        own = groups.labels[vertex];
        if (me < row.size) label = groups.label(row, me, weight);
    }
    if (RULE == COUNT) {
        const u32 group = u32(~0ull >> (64 - WIDTH)) << (lane() - me);
        sum = __popc(__match_any_sync(ALL_LANES, label) & group);
    } else {
#pragma unroll
        for (u32 i = 0; i < WIDTH; ++i) {
            const I other = __shfl_sync(ALL_LANES, label, i, WIDTH);
            const i64 its = __shfl_sync(ALL_LANES, weight, i, WIDTH);
            if (other == label) sum += its;
        }
    }
    auto best = Best<I, RULE>::none();
    if (label >= 0) best.take_group(groups, vertex, own, label, sum);
    best.template take_all<WIDTH>();
    if (mine && me == 0) groups.found[at] = best.chosen(groups, vertex, own);
}

__device__ __forceinline__ void add_weight(u32* at, i64) { atomicAdd(at, 1u); }
__device__ __forceinline__ void add_weight(i64* at, i64 weight) { atomicAdd(reinterpret_cast<u64*>(at), u64(weight)); }

// Return the number of slots of a table for a row: at least twice as many as the row has edges.
__device__ __forceinline__ u64 slots_for(i64 edges)
{
    return 1ull << (65 - __clzll(max(edges, i64(2)) - 1));
}

// Return the slot of a label in a table of `slots` slots. Set `added` if the label was not there before.
template <typename I>
__device__ __forceinline__ u64 slot_of(I label, u64 slots, volatile I* keys, bool& added)
{
    // Fibonacci hashing, because labels are small numbers and often consecutive.
    u64 slot = (u64(label) * 0x9e3779b97f4a7c15ull >> 20) & (slots - 1);
    for (;; slot = (slot + 1) & (slots - 1)) {
        const I key = keys[slot];
        if (key == label) break;
        if (key >= 0) continue;
        const I held = compare_and_swap(const_cast<I*>(keys) + slot, I(-1), label);
        added = held < 0;
        if (added || held == label) break;
    }
    return slot;
}

// The threads that sum the weights of an item together: a warp or a block.
struct Warp {
    __device__ __forceinline__ u32 index() const { return lane(); }
    __device__ __forceinline__ u32 size() const { return 32; }
    __device__ __forceinline__ u32 first_warp() const { return threadIdx.x / 32; }
    __device__ __forceinline__ void wait() const { __syncwarp(); }
    template <typename Best>
    __device__ __forceinline__ void take_all(Best& best) const
    {
        best.template take_all<32>();
    }
};

struct Block {
    __device__ __forceinline__ u32 index() const { return threadIdx.x; }
    __device__ __forceinline__ u32 size() const { return blockDim.x; }
    __device__ __forceinline__ u32 first_warp() const { return 0; }
    __device__ __forceinline__ void wait() const { __syncthreads(); }

    // Only the first thread's result is the best of all.
    template <typename Best>
    __device__ __forceinline__ void take_all(Best& best) const
    {
        __shared__ Best bests[32];
        best.template take_all<32>();
        if (lane() == 0) bests[threadIdx.x / 32] = best;
        __syncthreads();
        if (threadIdx.x == 0)
            for (u32 warp = 1; warp < blockDim.x / 32; ++warp) best.take(bests[warp]);
    }
};

// An item whose weights are summed by label, and what is done with the sums. This one is the row of a vertex, which takes
// the best label. The functions of an item are called by all threads of a team.
template <typename I, Rule RULE>
struct Choice {
    const Groups<I, RULE>& groups;

    __device__ __forceinline__ i64 size(u64 at) const { return groups.row(at).size; }

    // Call add(label, weight) for the edges of an item from `begin` to before `end`.
    template <typename Team, typename Add>
    __device__ __forceinline__ void each(u64 at, i64 begin, i64 end, Team team, Add add) const
    {
        const auto row = groups.row(at);
        for (i64 i = begin + team.index(); i < end; i += team.size()) {
            i64 weight;
            const I label = groups.label(row, i, weight);
            if (label >= 0) add(label, weight);
        }
    }

    // Use the sums. `entries` calls a function (valid, label, sum) for each of them; all lanes of a warp call it together.
    template <typename Team, typename Entries>
    __device__ __forceinline__ void finish(u64 at, Team team, Entries entries) const
    {
        const I vertex = groups.row(at).vertex, own = groups.labels[vertex];
        auto best = Best<I, RULE>::none();
        entries([&](bool valid, I label, i64 sum) {
            if (valid) best.take_group(groups, vertex, own, label, sum);
        });
        team.take_all(best);
        if (team.index() == 0) groups.found[at] = best.chosen(groups, vertex, own);
    }
};

// Sum the weights of an item in a table that is cleared before, with at least twice as many slots as the item has edges.
template <typename I, typename Item, typename Sum, typename Team>
__device__ __forceinline__ void sum_in_slots(const Item& item, u64 at, volatile I* keys, volatile Sum* sums, Team team)
{
    const i64 size = item.size(at);
    const u64 slots = slots_for(size);
    for (u64 slot = team.index(); slot < slots; slot += team.size()) {
        keys[slot] = I(-1);
        sums[slot] = 0;
    }
    team.wait();
    item.each(at, 0, size, team, [&](I label, i64 weight) {
        bool added;
        add_weight(const_cast<Sum*>(sums) + slot_of(label, slots, keys, added), weight);
    });
    team.wait();
    item.finish(at, team, [&](auto use) {
        for (u64 base = 0; base < slots; base += team.size()) {
            const u64 slot = base + team.index();
            const I key = slot < slots ? keys[slot] : I(-1);
            use(key >= 0, key, key >= 0 ? i64(sums[slot]) : 0);
        }
    });
    team.wait();
}
