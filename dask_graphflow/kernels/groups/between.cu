// Edges between groups of vertices, and edges inside groups; host.py has the twins.
//
// The sums of weights between groups become the rows of a graph of groups. Vertices are listed by group, and the weights of
// a group's edges are summed by the group at the other end, as tables.cuh describes. A group's sums are first written to
// where there is room for the largest possible number of them.
#include "common.cuh"
#include "edges.cuh"
#include "gang.cuh"
#include "groups.cuh"
#include "tables.cuh"

// Vertices by group. The host writes this struct.
template <typename I>
struct Members {
    const i64* offsets;
    const I* number;  // group of each vertex; negative: none
    I* places;        // of each vertex among those of its group
    I* members;       // the vertices, by group
    i64* first;       // index of the first member of each group; 0 initially
    i64* begins;      // where the edges of each member begin, if rows are in the order of members
    i64* bounds;      // running sum of the largest possible number of pairs of each group
    i64* totals;      // one per block
    i64* largest;     // most edges of a group; 0 initially
    u32* arrived;
    u64 vertices, groups;
};

// Return the sum of the values of all threads before this one, and set `all` to the sum of all.
__device__ __forceinline__ i64 block_before(i64 value, i64& all)
{
    __shared__ i64 sums[GANG / 32];
    const i64 before = running_sum(value);
    __syncthreads();  // all threads have read the sums of the last call
    if (lane() == 31) sums[threadIdx.x / 32] = before;
    __syncthreads();
    all = 0;
    i64 warps = 0;
    for (u32 warp = 0; warp < GANG / 32; ++warp) {
        if (warp == threadIdx.x / 32) warps = all;
        all += sums[warp];
    }
    return warps + before - value;
}

// Replace the numbers after `from` and up to `to` by running sums, which begin with the number at `from`. Each block
// does a part of them.
__device__ __forceinline__ void add_up(i64* numbers, u64 from, u64 to, i64* totals, u32* arrived)
{
    meet_grid(arrived);
    const u64 part = (to - from + gridDim.x - 1) / gridDim.x;
    const u64 begin = min(from + blockIdx.x * part, to), end = min(begin + part, to);
    i64 mine = 0, all = 0;
    for (u64 i = begin + threadIdx.x; i < end; i += blockDim.x) mine += fresh(numbers[i + 1]);
    block_before(mine, all);
    if (threadIdx.x == 0) totals[blockIdx.x] = all;
    i64 running = fresh(numbers[from]);
    meet_grid(arrived);
    mine = 0;
    for (u32 block = threadIdx.x; block < blockIdx.x; block += blockDim.x) mine += fresh(totals[block]);
    block_before(mine, all);
    running += all;
    for (u64 base = begin; base < end; base += blockDim.x) {
        const u64 i = base + threadIdx.x;
        const i64 number = i < end ? fresh(numbers[i + 1]) : 0;
        const i64 before = block_before(number, all);
        if (i < end) numbers[i + 1] = running + before + number;
        running += all;
    }
    meet_grid(arrived);
}

// Number the labels that have a load, in order. Afterwards `numbers` contains their running count, `holder` the number of
// each vertex's label, which is negative if the label has no load, and `mass` the loads by number.
template <typename I>
__global__ void __launch_bounds__(GANG, 2)
    number_groups(const I* labels, u64 vertices, const i64* load, u64 groups, i64* numbers, I* holder, i64* mass,
                  i64* totals, u32* arrived)
{
    if (thread_index() == 0) numbers[0] = 0;
    for (u64 label = thread_index(); label < groups; label += thread_count()) numbers[label + 1] = load[label] > 0;
    add_up(numbers, 0, groups, totals, arrived);
    for (u64 label = thread_index(); label < groups; label += thread_count())
        if (load[label] > 0) mass[fresh(numbers[label])] = load[label];
    for (u64 v = thread_index(); v < vertices; v += thread_count()) {
        const I label = labels[v];
        holder[v] = label >= 0 && load[label] > 0 ? I(fresh(numbers[label])) : I(-1);
    }
}

// List the vertices by group, in any order within a group.
template <typename I>
__global__ void __launch_bounds__(GANG, 2) list_members(Members<I> to)
{
    const u64 whole = (to.vertices + 31) / 32 * 32;
    for (u64 v = thread_index(); v < whole; v += thread_count()) {
        const I group = v < to.vertices ? to.number[v] : I(-1);
        const u32 same = __match_any_sync(ALL_LANES, group);
        const u32 leader = __ffs(same) - 1;
        u64 place = 0;
        if (group >= 0 && lane() == leader)
            place = atomicAdd(reinterpret_cast<u64*>(to.first + group + 1), u64(__popc(same)));
        place = __shfl_sync(ALL_LANES, place, leader);
        if (group >= 0) to.places[v] = I(place + __popc(same & lanes_before()));
    }
    if (thread_index() == 0) to.begins[0] = to.bounds[0] = 0;
    add_up(to.first, 0, to.groups, to.totals, to.arrived);
    for (u64 v = thread_index(); v < to.vertices; v += thread_count()) {
        const I group = to.number[v];
        if (group < 0) continue;
        const i64 at = fresh(to.first[group]) + to.places[v];
        to.members[at] = I(v);
        to.begins[at + 1] = to.offsets[v + 1] - to.offsets[v];
    }
    add_up(to.begins, 0, u64(fresh(to.first[to.groups])), to.totals, to.arrived);
    i64 largest = 0;
    for (u64 group = thread_index(); group < to.groups; group += thread_count()) {
        const i64 edges = fresh(to.begins[fresh(to.first[group + 1])]) - fresh(to.begins[fresh(to.first[group])]);
        to.bounds[group + 1] = min(edges, i64(to.groups));
        largest = max(largest, edges);
    }
    largest = warp_max(largest);
    if (lane() == 0 && largest) atomicMax(to.largest, largest);
    add_up(to.bounds, 0, to.groups, to.totals, to.arrived);
}

// The host writes this struct.
template <typename I>
struct Between {
    const i64* offsets;
    const I* ends;
    const i64* weights;  // null: 1 each
    const I* number;
    const I* members;
    const i64* first;
    const i64* begins;
    const i64* bounds;
    I* order;
    i64* sizes;  // 0 initially: running sum of the number of pairs of each group, afterwards
    i64* totals;  // one per block
    I* into;
    i64* weight;
    Room<I> room;
};

// The host sets all to 0.
struct Summing {
    u64 counts[KINDS], tickets[KINDS];
    u32 arrived;
};

// A group as an item whose edges are summed by the group at the other end.
template <typename I>
struct Group {
    const Between<I>& between;
    i64 before;  // possible pairs of the groups that are not summed now

    __device__ __forceinline__ bool skipped(u64) const { return false; }

    __device__ __forceinline__ i64 size(u64 at) const { return edges_of(between.order[at]); }

    __device__ __forceinline__ i64 edges_of(u64 group) const
    {
        return between.begins[between.first[group + 1]] - between.begins[between.first[group]];
    }

    template <typename Team, typename Add>
    __device__ __forceinline__ void each(u64 at, i64 begin, i64 end, Team team, Add add) const
    {
        const I group = between.order[at];
        const i64 first = between.first[group];
        const u64 members = between.first[group + 1] - first;
        const i64* begins = between.begins + first;
        // A warp takes consecutive edges.
        const i64 warps = team.size() / 32, tile = (end - begin + warps * 32 - 1) / (warps * 32) * 32;
        const i64 low = begins[0] + begin + team.index() / 32 * tile, high = min(low + tile, begins[0] + end);
        if (low >= high) return;
        visit_tile(begins, members, low, high, [&](const Span& span) {
            i64 shift = 0;
            if (span.row < members) {
                const I vertex = between.members[first + span.row];
                shift = between.offsets[vertex] - begins[span.row];
            }
            visit_span(span, group, shift, [&](bool valid, I, i64 edge) {
                const I target = valid ? between.number[between.ends[edge]] : I(-1);
                const i64 weight = target < 0 ? 0 : between.weights ? between.weights[edge] : 1;
                if (weight && target != group) add(target, weight);
            });
        });
    }

    template <typename Team, typename Entries>
    __device__ __forceinline__ void finish(u64 at, Team team, Entries entries) const
    {
        __shared__ i64 counts[WARPS];
        const I group = between.order[at];
        const i64 begin = between.bounds[group] - before;
        i64* count = counts + team.first_warp();
        if (team.index() == 0) *count = 0;
        team.wait();
        entries([&](bool valid, I target, i64 sum) {
            const i64 place = place_for(valid, count);
            if (!valid) return;
            between.into[begin + place] = target;
            between.weight[begin + place] = sum;
        });
        team.wait();
        if (team.index() == 0) between.sizes[group + 1] = *count;
    }
};

// Sum the edges of the groups from `low` to before `high`.
template <typename I>
__global__ void __launch_bounds__(GANG, 2) sum_between(Between<I> between, u64 low, u64 high, Summing* summing)
{
    __shared__ u64 cuts[KINDS + 1];
    const Group<I> item{between, between.bounds[low]};
    const auto bin = [&](u64 group) {
        const i64 edges = item.edges_of(group);
        return edges ? kind_of(edges, between.room.slots) : KINDS;
    };
    list_by_bin<KINDS>(low, high, bin, summing->counts, &summing->arrived, between.order, cuts);
    meet_grid(&summing->arrived);
    sum_items(item, cuts, summing->tickets, between.room, 0);
    add_up(between.sizes, low, high, between.totals, &summing->arrived);
}

// Copy the sums of the groups from `low` to before `high` as rows.
template <typename I>
__global__ void __launch_bounds__(THREADS) copy_rows(Between<I> between, u64 low, u64 high, I* ends, i64* weights)
{
    const i64 *sizes = between.sizes + low, *bounds = between.bounds + low;
    const u64 groups = high - low;
    const i64 last = sizes[groups], tile = tile_size(last - sizes[0]);
    for (i64 edge = sizes[0] + i64(warp_index()) * tile; edge < last; edge += i64(warp_count()) * tile)
        visit_tile(sizes, groups, edge, min(edge + tile, last), [&](const Span& span) {
            const i64 shift = span.row < groups ? bounds[span.row] - bounds[0] - sizes[span.row] : 0;
            visit_span(span, shift, 0, [&](bool valid, i64 own, i64 at) {
                if (!valid) return;
                ends[at - sizes[0]] = between.into[at + own];
                weights[at - sizes[0]] = between.weight[at + own];
            });
        });
}

// Add up the weights of the edges whose ends have different labels.
template <typename I>
__global__ void __launch_bounds__(THREADS)
    weight_between(const i64* offsets, const I* ends, const i64* weights, u64 rows, const I* labels, i64* total)
{
    i64 sum = 0;
    visit_edges(offsets, rows, [&](const Span& span) {
        visit_span(span, span.row < rows ? labels[span.row] : I(0), 0, [&](bool valid, I own, i64 edge) {
            if (valid && labels[ends[edge]] != own) sum += weights ? weights[edge] : 1;
        });
    });
    sum = warp_sum(sum);
    if (lane() == 0 && sum) add_to(total, sum);
}

// List the edges whose ends have the same label, in any order, each with its smaller end first.
template <typename I>
__global__ void __launch_bounds__(THREADS)
    edges_inside(const i64* offsets, const I* ends, u64 rows, I first, const I* labels, I* source, I* target, i64* count)
{
    visit_edges(offsets, rows, [&](const Span& span) {
        visit_span(span, I(first + I(span.row)), 0, [&](bool valid, I own, i64 edge) {
            const I end = valid ? ends[edge] : I(0);
            const bool mine = valid && own < end && labels[own] == labels[end];
            const i64 place = place_for(mine, count);
            if (!mine) return;
            source[place] = own;
            target[place] = end;
        });
    });
}
