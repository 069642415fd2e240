// Shortest paths: host_sssp.py has the twins. Where the host has buckets, the device has two piles: what is
// nearer than a limit is relaxed, in turns, until nothing is; the rest waits, and is gone through once the limit
// is raised (near-far: A. Davidson, S. Baxter, M. Garland, J. Owens, "Work-Efficient Parallel GPU Methods for
// Single-Source Shortest Paths", IPDPS 2014).
//
// Distances are of 0 or more: as whole numbers their bits are in the same order.
#include "common.cuh"
#include "appending.cuh"
#include "edges.cuh"
#include "gang.cuh"

constexpr u64 FURTHEST = 0x7ff0000000000000ull;  // the bits of infinity

template <typename I>
__device__ __forceinline__ I never();
template <>
__device__ __forceinline__ int never<int>() { return 0x7fffffff; }
template <>
__device__ __forceinline__ i64 never<i64>() { return 0x7fffffffffffffffll; }

// What a turn counts.
struct Found {
    Listed near;
    i64 far;
    u64 least;  // the bits of the least distance put onto the far pile
};

// A search, and when to stop.
struct Going {
    Listed near;
    i64 far;             // vertices on the far pile
    u64 least;           // bits of a distance that none of those is below, unless they are near too
    double limit;        // what is nearer is near
    double delta, cutoff;
    i64 turn;            // near piles relaxed
    i64 near_side, far_side;  // which of two lists the piles are
    i64 vertices, edges;  // relaxed
    i64 steps, most_steps;  // of this launch
    i64 most_edges, longest;  // it stops at a near pile with so many edges, or a row of so many
    Found sets[SETS];
    u32 arrived;
};

enum Pile { NEITHER, NEAR, FAR };

template <typename I, typename W>
struct Search {
    const i64* offsets;
    const I* ends;
    const W* weights;
    double* distance;
    u32* turns;    // the turn whose near pile a vertex was put onto last
    u32* waiting;  // a bit for each vertex of the far pile
    I* near_lists[2];
    I* far_lists[2];

    __device__ __forceinline__ I* near(bool side) const { return side ? near_lists[1] : near_lists[0]; }
    __device__ __forceinline__ I* far(bool side) const { return side ? far_lists[1] : far_lists[0]; }

    // Say which pile a vertex is to go onto that may be reached at this distance.
    __device__ __forceinline__ Pile offer(u64 vertex, double there, double limit, double cutoff, u32 turn) const
    {
        if (!(there <= cutoff) || !(there < __ldcg(distance + vertex))) return NEITHER;
        const u64 bits = u64(__double_as_longlong(there));
        if (bits >= atomicMin(reinterpret_cast<u64*>(distance) + vertex, bits)) return NEITHER;
        if (there < limit) return atomicMax(turns + vertex, turn + 1) <= turn ? NEAR : NEITHER;
        const u32 bit = 1u << (vertex % 32);
        return atomicOr(waiting + vertex / 32, bit) & bit ? NEITHER : FAR;
    }

    __device__ __forceinline__ i64 size(u64 vertex) const { return offsets[vertex + 1] - offsets[vertex]; }
};

__device__ __forceinline__ u64 warp_least(u64 value)
{
#pragma unroll
    for (int d = 16; d; d /= 2) value = min(value, __shfl_xor_sync(ALL_LANES, value, d));
    return value;
}

// A lane's part of what a turn counts.
struct Counting {
    i64 edges = 0, largest = 0;
    u64 least = ~0ull;

    __device__ __forceinline__ void near(i64 size)
    {
        edges += size;
        largest = max(largest, size);
    }
    __device__ __forceinline__ void far(double there) { least = min(least, u64(__double_as_longlong(there))); }

    __device__ __forceinline__ void report(Found* found)
    {
        if (__any_sync(ALL_LANES, edges > 0)) {
            edges = warp_sum(edges);
            largest = warp_max(largest);
            if (lane() == 0) {
                add_to(&found->near.edges, edges);
                atomicMax(&found->near.largest, largest);
            }
        }
        if (__any_sync(ALL_LANES, least != ~0ull)) {
            least = warp_least(least);
            if (lane() == 0) atomicMin(&found->least, least);
        }
    }
};

// Relax the edges of a near pile, in equal shares. `costs` are its edges, added up. What it puts onto piles goes
// into the other near list and behind the far list; the host reads sets[0].
template <typename I, typename W>
__global__ void __launch_bounds__(THREADS) relax(Search<I, W> search, const i64* costs, Going* going)
{
    __shared__ I queues[2][THREADS / 32][QUEUED];
    const u32 warp = threadIdx.x / 32;
    Found* found = going->sets;
    const I* pile = search.near(going->near_side);
    const u64 count = u64(going->near.count);
    const double limit = going->limit, cutoff = going->cutoff;
    const u32 turn = u32(going->turn);
    Appending<I> near{queues[0][warp], search.near(!going->near_side), &found->near.count};
    Appending<I> far{queues[1][warp], search.far(going->far_side) + going->far, &found->far};
    Counting counting;
    visit_edges(costs, count, [&](const Span& span) {
        u64 vertex = 0;
        i64 ahead = 0;
        double mine = 0;
        if (span.row < count) {
            vertex = u64(pile[span.row]);
            ahead = search.offsets[vertex] - costs[span.row];
            mine = __ldcg(search.distance + vertex);
        }
        for (i64 at = span.first; at < span.last; at += 32) {
            const u32 owner = owner_of(span, at + lane());
            const i64 edge = __shfl_sync(ALL_LANES, ahead, owner) + at + lane();
            const double here = __shfl_sync(ALL_LANES, mine, owner);
            Pile to = NEITHER;
            I other = 0;
            if (at + lane() < span.last) {
                other = __ldcs(search.ends + edge);
                const double there = __dadd_rn(here, double(__ldcs(search.weights + edge)));
                to = search.offer(u64(other), there, limit, cutoff, turn);
                if (to == NEAR) counting.near(search.size(u64(other)));
                if (to == FAR) counting.far(there);
            }
            near.add(to == NEAR, other);
            far.add(to == FAR, other);
        }
    });
    near.flush();
    far.flush();
    counting.report(found);
}

// Relax pile after pile, and raise the limit, as long as piles are small. A step is a turn, or going through the
// far pile.
template <typename I, typename W>
__global__ void __launch_bounds__(GANG) relax_on(Search<I, W> search, Going* going)
{
    __shared__ Found own[SETS];
    constexpr Found NOTHING{{0, 0, 0}, 0, ~0ull};
    if (threadIdx.x < SETS) own[threadIdx.x] = NOTHING;
    __syncthreads();
    const double delta = going->delta, cutoff = going->cutoff;
    const i64 most_steps = going->most_steps, most_edges = going->most_edges, longest = going->longest;

    struct State {
        Listed near;
        i64 far;
        u64 least;
        double limit;
        i64 turn, near_side, far_side, vertices, edges, steps;
    } now;
    const auto load = [&] {
        now.near = fresh_of(going->near);
        now.far = fresh(going->far);
        now.least = fresh(going->least);
        now.limit = fresh(going->limit);
        now.turn = fresh(going->turn);
        now.near_side = fresh(going->near_side);
        now.far_side = fresh(going->far_side);
        now.vertices = fresh(going->vertices);
        now.edges = fresh(going->edges);
        now.steps = fresh(going->steps);
    };
    const auto store = [&] {
        going->near = now.near;
        going->far = now.far;
        going->least = now.least;
        going->limit = now.limit;
        going->turn = now.turn;
        going->near_side = now.near_side;
        going->far_side = now.far_side;
        going->vertices = now.vertices;
        going->edges = now.edges;
        going->steps = now.steps;
    };
    const auto stops = [&] {
        return (!now.near.count && !now.far) || now.steps == most_steps || now.near.edges > most_edges ||
               now.near.largest > longest;
    };
    const auto items = [&] { return now.near.count ? now.near.count : now.far; };

    const auto turn = [&](bool alone, Found* found) {
        const I* pile = search.near(now.near_side);
        I* near = search.near(!now.near_side);
        I* far = search.far(now.far_side) + now.far;
        Counting counting;
        visit_rows(
            search.offsets, now.near.count, alone, [&](i64 i) { return u64(__ldcg(pile + i)); },
            [&](bool valid, u64 vertex, i64 edge) {
                Pile to = NEITHER;
                I other = 0;
                double there = 0;
                if (valid) {
                    other = search.ends[edge];
                    there = __dadd_rn(__ldcg(search.distance + vertex), double(search.weights[edge]));
                    to = search.offer(u64(other), there, now.limit, cutoff, u32(now.turn));
                }
                i64 place = place_for(to == NEAR, &found->near.count);
                if (to == NEAR) {
                    near[place] = other;
                    counting.near(search.size(u64(other)));
                }
                place = place_for(to == FAR, &found->far);
                if (to == FAR) {
                    far[place] = other;
                    counting.far(there);
                }
            });
        counting.report(found);
    };
    // Vertices that came nearer than the old limit were relaxed since; the others are near or stay.
    const auto sort = [&](bool alone, double settled, double limit, Found* found) {
        const I* pile = search.far(now.far_side);
        I* near = search.near(now.near_side);
        I* far = search.far(!now.far_side);
        const i64 threads = alone ? blockDim.x : i64(thread_count());
        const i64 mine = alone ? threadIdx.x : i64(thread_index());
        Counting counting;
        for (i64 first = mine - lane(); first < now.far; first += threads) {
            Pile to = NEITHER;
            I vertex = 0;
            double there = 0;
            if (first + lane() < now.far) {
                vertex = __ldcg(pile + first + lane());
                there = __ldcg(search.distance + vertex);
                to = there < settled ? NEITHER : there < limit ? NEAR : FAR;
                if (to != FAR) atomicAnd(search.waiting + u64(vertex) / 32, ~(1u << (u64(vertex) % 32)));
            }
            i64 place = place_for(to == NEAR, &found->near.count);
            if (to == NEAR) {
                near[place] = vertex;
                counting.near(search.size(u64(vertex)));
            }
            place = place_for(to == FAR, &found->far);
            if (to == FAR) {
                far[place] = vertex;
                counting.far(there);
            }
        }
        counting.report(found);
    };
    const auto step = [&](bool alone, Found* sets, u32 set, auto meet) {
        Found* found = sets + set;
        if (threadIdx.x == 0 && blockIdx.x == 0) sets[(set + 1) % SETS] = NOTHING;
        const bool turns = now.near.count > 0;
        const double settled = now.limit;
        if (turns) {
            turn(alone, found);
        } else {
            const double least = __longlong_as_double(i64(now.least));
            now.limit = __dadd_rn(fmax(settled, least), delta);
            // Where delta is lost in rounding, go on by the smallest step there is.
            if (!(now.limit > least)) now.limit = __longlong_as_double(i64(now.least) + 1);
            sort(alone, settled, now.limit, found);
        }
        meet();
        const Found done{fresh_of(found->near), fresh(found->far), fresh(found->least)};
        if (turns) {
            now.vertices += now.near.count;
            now.edges += now.near.edges;
            ++now.turn;
            now.near_side = 1 - now.near_side;
            now.far += done.far;
            now.least = min(now.least, done.least);
        } else {
            now.far_side = 1 - now.far_side;
            now.far = done.far;
            now.least = done.least;
        }
        now.near = done.near;
        ++now.steps;
    };

    load();
    meet_grid(&going->arrived);  // all have read it, before anybody writes
    u32 set = 0, own_set = 0;
    while (!stops()) {
        if (items() > ALONE) {
            step(false, going->sets, set, [&] { meet_grid(&going->arrived); });
            set = (set + 1) % SETS;
            continue;
        }
        if (blockIdx.x == 0) {
            do {
                step(true, own, own_set, [] { __syncthreads(); });
                own_set = (own_set + 1) % SETS;
            } while (!stops() && items() <= ALONE);
            if (threadIdx.x == 0) store();
        }
        meet_grid(&going->arrived);
        load();
    }
    meet_grid(&going->arrived);  // nobody reads what is written now
    if (threadIdx.x == 0 && blockIdx.x == 0) store();
}

// Offer each vertex to those that it is on a shortest path to; say whether any are as far away as it is.
// Where rows are by labels, `names` has the vertex of each, which is what is offered.
template <typename I, typename W>
__global__ void __launch_bounds__(THREADS) offer_nearer(const i64* offsets, const I* ends, const W* weights, u64 rows,
                                                       const I* names, const double* distance, I* predecessor,
                                                       u32* level)
{
    visit_edges(offsets, rows, [&](const Span& span) {
        const double mine = span.row < rows ? distance[span.row] : 0;
        const I name = names && span.row < rows ? names[span.row] : I(span.row);
        for (i64 at = span.first; at < span.last; at += 32) {
            const u32 owner = owner_of(span, at + lane());
            const double here = __shfl_sync(ALL_LANES, mine, owner);
            const u64 near = span.row - lane() + owner;
            const I offered = __shfl_sync(ALL_LANES, name, owner);
            const i64 edge = at + lane();
            if (edge >= span.last || u64(__double_as_longlong(here)) == FURTHEST) continue;
            const I far = __ldcs(ends + edge);
            const double there = distance[far];
            if (__dadd_rn(here, double(__ldcs(weights + edge))) != there) continue;
            if (here == there) {
                if (u64(far) != near) *level = 1;
            } else if (offered < __ldcg(predecessor + far)) {
                atomicMin(predecessor + far, offered);
            }
        }
    });
}

// What there is to know of weights: how many are negative or no number, how many are finite, and those' sum.
struct Weights {
    i64 wrong, finite;
    double sum;
};

template <typename W>
__global__ void weigh(const W* weights, u64 count, Weights* found)
{
    i64 wrong = 0, finite = 0;
    double sum = 0;
    for (u64 i = thread_index(); i < count; i += thread_count()) {
        const double weight = double(__ldcs(weights + i));
        wrong += !(weight >= 0);
        if (isfinite(weight)) {
            ++finite;
            sum += weight;
        }
    }
    wrong = warp_sum(wrong);
    finite = warp_sum(finite);
    sum = warp_sum(sum);
    if (lane() == 0) {
        add_to(&found->wrong, wrong);
        add_to(&found->finite, finite);
        atomicAdd(&found->sum, sum);
    }
}
