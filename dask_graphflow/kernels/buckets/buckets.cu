// Shortest paths: host.py has the twins. The host uses buckets; the device uses two piles. Vertices nearer
// than a limit are on the near pile. They are relaxed, in turns, until the near pile is empty. The others wait on the
// far pile, which is sorted again when the limit is raised (near-far: A. Davidson, S. Baxter, M. Garland, J. Owens,
// "Work-Efficient Parallel GPU Methods for Single-Source Shortest Paths", IPDPS 2014).
//
// A turn relaxes light edges, which weigh less than delta, the amount by which the limit is raised. They come first in
// each row. Heavy edges lead past the limit, so they are relaxed only once, when the distances of their vertices are
// final. This is the case when the near pile is empty. The vertices that came below the limit since it was raised are
// then settled: their heavy edges are relaxed (U. Meyer, P. Sanders, "Delta-stepping", Journal of Algorithms 49 (1),
// 2003).
//
// Distances are never negative, so their bits, read as integers, are in the same order.
#include "common.cuh"
#include "appending.cuh"
#include "edges.cuh"
#include "gang.cuh"

constexpr u64 FURTHEST = 0x7ff0000000000000ull;  // the bits of infinity

// The counts of a turn.
struct Found {
    Listed near;
    Listed settled;  // the near vertices that come below the limit for the first time
    i64 far;
    u64 least;  // the bits of the smallest distance put onto the far pile
};

// The state of a search, and when to stop it.
struct Going {
    Listed near;
    Listed settled;      // vertices that came below the limit since it was raised
    i64 far;             // number of vertices on the far pile
    u64 least;           // bits of a lower bound of the distances on the far pile, except of vertices also near
    double limit;        // vertices with smaller distances are near
    double delta, cutoff;
    double horizon;      // the distance that all members have reached
    i64 ahead;           // beyond the horizon, a launch continues only until this many edges have been relaxed
    i64 turn;            // number of the current turn, from 1; relaxing heavy edges is a turn too
    i64 first_turn;      // the first turn since the limit was raised, or since heavy edges were relaxed
    i64 settled_side, near_side, far_side;  // which of its two lists each pile uses
    i64 vertices, edges;  // number of vertices and edges relaxed
    i64 steps, most_steps;  // of this launch
    i64 most_edges, longest;  // a launch stops at a pile with more edges, or with a longer row
    Found sets[SETS];
    u32 arrived;
};

// FIRST is near, and was not near before, or not since its heavy edges were relaxed. WAITS is already on the far pile.
enum Pile { NEITHER, NEAR, FIRST, FAR, WAITS };

__device__ __forceinline__ bool is_near(Pile to) { return to == NEAR || to == FIRST; }

template <typename I, typename W>
struct Search {
    const i64* offsets;
    const i64* middle;  // where the heavy edges of each row begin
    const I* ends;
    const W* weights;
    double* distance;
    u32* turns;    // the turn whose near pile each vertex was last put onto; 0 for never
    u32* waiting;  // a bitmap of the far pile
    I* near_lists[2];
    I* far_lists[2];
    I* settled_lists[2];

    __device__ __forceinline__ I* near(bool side) const { return side ? near_lists[1] : near_lists[0]; }
    __device__ __forceinline__ I* far(bool side) const { return side ? far_lists[1] : far_lists[0]; }
    __device__ __forceinline__ I* settled(bool side) const { return side ? settled_lists[1] : settled_lists[0]; }

    // Offer a distance to a vertex; return the pile to put the vertex onto.
    __device__ __forceinline__ Pile offer(u64 vertex, double there, double limit, double cutoff, u32 turn,
                                          u32 first_turn) const
    {
        if (!(there <= cutoff) || !(there < __ldcg(distance + vertex))) return NEITHER;
        const u64 bits = u64(__double_as_longlong(there));
        if (bits >= atomicMin(reinterpret_cast<u64*>(distance) + vertex, bits)) return NEITHER;
        if (there < limit) {
            const u32 before = atomicMax(turns + vertex, turn + 1);
            return before > turn ? NEITHER : before < first_turn ? FIRST : NEAR;
        }
        const u32 bit = 1u << (vertex % 32);
        return atomicOr(waiting + vertex / 32, bit) & bit ? WAITS : FAR;
    }

    __device__ __forceinline__ i64 light(u64 vertex) const { return middle[vertex] - offsets[vertex]; }
    __device__ __forceinline__ i64 heavy(u64 vertex) const { return offsets[vertex + 1] - middle[vertex]; }
};

// A lane's part of the counts of a turn.
struct Counting {
    i64 edges = 0, largest = 0, settled_edges = 0, settled_largest = 0;
    u64 least = ~0ull;

    // Count a vertex that an edge leads to, at a distance.
    template <typename I, typename W>
    __device__ __forceinline__ void add(const Search<I, W>& search, Pile to, I vertex, double there)
    {
        if (is_near(to)) near(search.light(u64(vertex)));
        if (to == FIRST) settled(search.heavy(u64(vertex)));
        if (to == FAR || to == WAITS) far(there);
    }

    __device__ __forceinline__ void near(i64 light)
    {
        edges += light;
        largest = max(largest, light);
    }
    __device__ __forceinline__ void settled(i64 heavy)
    {
        settled_edges += heavy;
        settled_largest = max(settled_largest, heavy);
    }
    __device__ __forceinline__ void far(double there) { least = min(least, u64(__double_as_longlong(there))); }

    __device__ __forceinline__ void report(Found* found)
    {
        list(&found->near, edges, largest);
        list(&found->settled, settled_edges, settled_largest);
        if (__any_sync(ALL_LANES, least != ~0ull)) {
            least = warp_min(least);
            if (lane() == 0) atomicMin(&found->least, least);
        }
    }

    static __device__ __forceinline__ void list(Listed* listed, i64 edges, i64 largest)
    {
        if (!__any_sync(ALL_LANES, edges > 0)) return;
        edges = warp_sum(edges);
        largest = warp_max(largest);
        if (lane() != 0) return;
        add_to(&listed->edges, edges);
        atomicMax(&listed->largest, largest);
    }
};

// Append the vertices of a warp's lanes to the lists of their piles. All lanes call it together.
template <typename I>
__device__ __forceinline__ void put(Pile to, I vertex, I* near, I* settled, I* far, Found* found)
{
    i64 place = place_for(is_near(to), &found->near.count);
    if (is_near(to)) near[place] = vertex;
    place = place_for(to == FIRST, &found->settled.count);
    if (to == FIRST) settled[place] = vertex;
    place = place_for(to == FAR, &found->far);
    if (to == FAR) far[place] = vertex;
}

// Relax the light edges of a near pile, or the heavy edges of the settled vertices, in equal shares. `costs` is the
// running sum of the numbers of these edges. Near vertices go into the other near list. Far and settled vertices are
// appended to their lists. The host reads sets[0].
template <typename I, typename W>
__global__ void __launch_bounds__(THREADS) relax(Search<I, W> search, const i64* costs, bool settling, Going* going)
{
    __shared__ I queues[3][THREADS / 32][QUEUED];
    const u32 warp = threadIdx.x / 32;
    Found* found = going->sets;
    const I* pile = settling ? search.settled(going->settled_side) : search.near(going->near_side);
    const i64* begins = settling ? search.middle : search.offsets;
    const u64 count = u64(settling ? going->settled.count : going->near.count);
    const double limit = going->limit, cutoff = going->cutoff;
    const u32 turn = u32(going->turn), first_turn = settling ? turn + 1 : u32(going->first_turn);
    Appending<I> near{queues[0][warp], search.near(!going->near_side), &found->near.count};
    Appending<I> far{queues[1][warp], search.far(going->far_side) + going->far, &found->far};
    I* settled_list = settling ? search.settled(!going->settled_side)
                               : search.settled(going->settled_side) + going->settled.count;
    Appending<I> settled{queues[2][warp], settled_list, &found->settled.count};
    Counting counting;
    visit_edges(costs, count, [&](const Span& span) {
        u64 vertex = 0;
        i64 ahead = 0;
        double mine = 0;
        if (span.row < count) {
            vertex = u64(pile[span.row]);
            ahead = begins[vertex] - costs[span.row];
            mine = __ldcg(search.distance + vertex);
        }
        visit_span(span, mine, ahead, [&](bool valid, double here, i64 edge) {
            Pile to = NEITHER;
            I other = 0;
            if (valid) {
                other = __ldcs(search.ends + edge);
                const double there = __dadd_rn(here, double(__ldcs(search.weights + edge)));
                to = search.offer(u64(other), there, limit, cutoff, turn, first_turn);
                counting.add(search, to, other, there);
            }
            near.add(is_near(to), other);
            settled.add(to == FIRST, other);
            far.add(to == FAR, other);
        });
    });
    near.flush();
    far.flush();
    settled.flush();
    counting.report(found);
}

// Relax pile after pile, and raise the limit, as long as piles are small. A step relaxes a near pile, or relaxes the
// heavy edges of the settled vertices, or sorts the far pile.
template <typename I, typename W>
__global__ void __launch_bounds__(GANG) relax_on(Search<I, W> search, Going* going)
{
    __shared__ Found own[SETS];
    constexpr Found NOTHING{{0, 0, 0}, {0, 0, 0}, 0, ~0ull};
    if (threadIdx.x < SETS) own[threadIdx.x] = NOTHING;
    __syncthreads();
    const double delta = going->delta, cutoff = going->cutoff, horizon = going->horizon;
    const i64 ahead = going->ahead;
    const i64 most_steps = going->most_steps, most_edges = going->most_edges, longest = going->longest;

    struct State {
        Listed near, settled;
        i64 far;
        u64 least;
        double limit;
        i64 turn, first_turn, settled_side, near_side, far_side, vertices, edges, steps;
    } now;
    const auto load = [&] {
        now.near = fresh_of(going->near);
        now.settled = fresh_of(going->settled);
        now.far = fresh(going->far);
        now.least = fresh(going->least);
        now.limit = fresh(going->limit);
        now.turn = fresh(going->turn);
        now.first_turn = fresh(going->first_turn);
        now.settled_side = fresh(going->settled_side);
        now.near_side = fresh(going->near_side);
        now.far_side = fresh(going->far_side);
        now.vertices = fresh(going->vertices);
        now.edges = fresh(going->edges);
        now.steps = fresh(going->steps);
    };
    const auto store = [&] {
        going->near = now.near;
        going->settled = now.settled;
        going->far = now.far;
        going->least = now.least;
        going->limit = now.limit;
        going->turn = now.turn;
        going->first_turn = now.first_turn;
        going->settled_side = now.settled_side;
        going->near_side = now.near_side;
        going->far_side = now.far_side;
        going->vertices = now.vertices;
        going->edges = now.edges;
        going->steps = now.steps;
    };
    const auto items = [&] {
        return now.near.count ? now.near.count : now.settled.count ? now.settled.count : now.far;
    };
    const auto stops = [&] {
        const Listed& next = now.near.count ? now.near : now.settled;
        if (!items() || now.steps == most_steps || next.edges > most_edges || next.largest > longest) return true;
        return !next.count && now.edges >= ahead && __longlong_as_double(i64(now.least)) > horizon;
    };

    const auto turn = [&](bool alone, bool settling, Found* found) {
        const I* pile = settling ? search.settled(now.settled_side) : search.near(now.near_side);
        I* settled =
            settling ? search.settled(!now.settled_side) : search.settled(now.settled_side) + now.settled.count;
        const u32 first_turn = u32(settling ? now.turn + 1 : now.first_turn);
        I* near = search.near(!now.near_side);
        I* far = search.far(now.far_side) + now.far;
        Counting counting;
        visit_rows(
            settling ? search.middle : search.offsets, settling ? search.offsets + 1 : search.middle, items(), alone,
            [&](i64 i) { return u64(__ldcg(pile + i)); },
            [&](bool valid, u64 vertex, i64 edge) {
                Pile to = NEITHER;
                I other = 0;
                double there = 0;
                if (valid) {
                    other = search.ends[edge];
                    there = __dadd_rn(__ldcg(search.distance + vertex), double(search.weights[edge]));
                    to = search.offer(u64(other), there, now.limit, cutoff, u32(now.turn), first_turn);
                    counting.add(search, to, other, there);
                }
                put(to, other, near, settled, far, found);
            });
        counting.report(found);
    };
    // Vertices that have come nearer than the old limit were already relaxed. The others become near or stay far.
    const auto sort = [&](bool alone, double settled, double limit, Found* found) {
        const I* pile = search.far(now.far_side);
        I* near = search.near(now.near_side);
        I* settled_list = search.settled(now.settled_side);
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
                near[place] = settled_list[place] = vertex;
                search.turns[vertex] = u32(now.turn);
                counting.near(search.light(u64(vertex)));
                counting.settled(search.heavy(u64(vertex)));
            }
            place = place_for(to == FAR, &found->far);
            if (to == FAR) {
                far[place] = vertex;
                counting.far(there);
            }
        }
        counting.report(found);
    };
    const auto step = [&](bool alone, Found* sets, u32 set) {
        Found* found = sets + set;
        if (threadIdx.x == 0 && blockIdx.x == 0) sets[(set + 1) % SETS] = NOTHING;
        const bool turns = now.near.count > 0, settles = !turns && now.settled.count > 0;
        const double settled = now.limit;
        if (turns || settles) {
            turn(alone, settles, found);
        } else {
            const double least = __longlong_as_double(i64(now.least));
            now.limit = __dadd_rn(fmax(settled, least), delta);
            // If delta is lost in rounding, raise the limit by the smallest possible step.
            if (!(now.limit > least)) now.limit = __longlong_as_double(i64(now.least) + 1);
            sort(alone, settled, now.limit, found);
        }
        if (alone)
            __syncthreads();
        else
            meet_grid(&going->arrived);
        const Found done{fresh_of(found->near), fresh_of(found->settled), fresh(found->far), fresh(found->least)};
        now.least = turns || settles ? min(now.least, done.least) : done.least;
        if (turns || settles) {
            now.vertices += turns ? now.near.count : 0;
            now.edges += turns ? now.near.edges : now.settled.edges;
            now.far += done.far;
            ++now.turn;
            now.near_side = 1 - now.near_side;
            if (settles) {
                now.first_turn = now.turn;
                now.settled_side = 1 - now.settled_side;
                now.settled = Listed{0, 0, 0};
            }
            now.settled.count += done.settled.count;
            now.settled.edges += done.settled.edges;
            now.settled.largest = max(now.settled.largest, done.settled.largest);
        } else {
            now.far_side = 1 - now.far_side;
            now.far = done.far;
            now.first_turn = now.turn;
            now.settled = Listed{done.near.count, done.settled.edges, done.settled.largest};
        }
        now.near = done.near;
        ++now.steps;
    };

    load();
    meet_grid(&going->arrived);  // all blocks have read it before any block writes
    u32 set = 0, own_set = 0;
    while (!stops()) {
        if (items() > ALONE) {
            step(false, going->sets, set);
            set = (set + 1) % SETS;
            continue;
        }
        if (blockIdx.x == 0) {
            do {
                step(true, own, own_set);
                own_set = (own_set + 1) % SETS;
            } while (!stops() && items() <= ALONE);
            if (threadIdx.x == 0) store();
        }
        meet_grid(&going->arrived);
        load();
    }
    meet_grid(&going->arrived);  // no block reads any more when the state is written
    if (threadIdx.x == 0 && blockIdx.x == 0) store();
}

// Put vertices to which other members offer smaller distances onto piles. Each vertex is offered at most once. The host
// reads sets[0].
template <typename I, typename W>
__global__ void __launch_bounds__(THREADS) offer_distances(Search<I, W> search, const I* vertices, const double* values,
                                                          u64 count, Going* going)
{
    Found* found = going->sets;
    I* near = search.near(going->near_side) + going->near.count;
    I* far = search.far(going->far_side) + going->far;
    I* settled = search.settled(going->settled_side) + going->settled.count;
    const double limit = going->limit, cutoff = going->cutoff;
    // `offer` marks near vertices with the next turn. These are for the current one, so give it the turn before.
    const u32 turn = u32(going->turn) - 1, first_turn = u32(going->first_turn);
    Counting counting;
    for (u64 first = thread_index() - lane(); first < count; first += thread_count()) {
        const u64 i = first + lane();
        Pile to = NEITHER;
        I vertex = 0;
        double there = 0;
        if (i < count) {
            vertex = vertices[i];
            there = values[i];
            to = search.offer(u64(vertex), there, limit, cutoff, turn, first_turn);
            counting.add(search, to, vertex, there);
        }
        put(to, vertex, near, settled, far, found);
    }
    counting.report(found);
}

// List the mirrors that are nearer than a limit and nearer than their owners were told, and their distances. `sent`
// contains the distances that owners were told. The first `few` results are also written to host memory.
template <typename I>
__global__ void __launch_bounds__(THREADS) take_mirrors(const double* distance, i64 owned, i64 count, double limit,
                                                       double* sent, I* mirrors, double* distances, I* few_mirrors,
                                                       double* few_distances, i64 few, i64* found)
{
    for (i64 first = i64(thread_index()) - lane(); first < count; first += i64(thread_count())) {
        const i64 i = first + lane();
        const double here = i < count ? distance[owned + i] : 0;
        const bool taken = i < count && here < limit && here < sent[i];
        const i64 place = place_for(taken, found);
        if (taken) {
            mirrors[place] = I(i);
            distances[place] = sent[i] = here;
            if (place < few) {
                few_mirrors[place] = I(i);
                few_distances[place] = here;
            }
        }
    }
}

// Copy rows with their light edges first. `middle` is where the heavy edges begin. One warp per row.
template <typename I, typename W>
__global__ void __launch_bounds__(THREADS) light_first(const i64* offsets, const I* ends, const W* weights, u64 rows,
                                                      double delta, I* new_ends, W* new_weights, i64* middle)
{
    for (u64 row = warp_index(); row < rows; row += warp_count()) {
        const i64 begin = offsets[row], end = offsets[row + 1];
        i64 light = 0;
        for (i64 edge = begin + lane(); edge < end; edge += 32) light += double(weights[edge]) < delta;
        i64 near = begin, far = begin + warp_sum(light);
        if (lane() == 0) middle[row] = far;
        for (i64 first = begin; first < end; first += 32) {
            const i64 edge = first + lane();
            const W weight = edge < end ? weights[edge] : W(0);
            const bool is_light = edge < end && double(weight) < delta, is_heavy = edge < end && !is_light;
            const u32 lights = __ballot_sync(ALL_LANES, is_light), heavies = __ballot_sync(ALL_LANES, is_heavy);
            const i64 to = is_light ? near + __popc(lights & lanes_before()) : far + __popc(heavies & lanes_before());
            if (edge < end) {
                new_ends[to] = ends[edge];
                new_weights[to] = weight;
            }
            near += __popc(lights);
            far += __popc(heavies);
        }
    }
}

// Add the edges of some vertices to the near pile, which has the light ones, and to the settled pile.
template <typename I>
__global__ void measure_piles(const i64* offsets, const i64* middle, const I* vertices, u64 count, Listed* near,
                              Listed* settled)
{
    Counting counting;
    for (u64 i = thread_index(); i < count; i += thread_count()) {
        const u64 vertex = u64(vertices[i]);
        counting.near(middle[vertex] - offsets[vertex]);
        counting.settled(offsets[vertex + 1] - middle[vertex]);
    }
    __syncwarp();
    counting.list(near, counting.edges, counting.largest);
    counting.list(settled, counting.settled_edges, counting.settled_largest);
}

// Lower `least` to the bits of the smallest distance of some vertices.
template <typename I>
__global__ void least_distance(const double* distance, const I* vertices, u64 count, u64* least)
{
    u64 own = FURTHEST;
    for (u64 i = thread_index(); i < count; i += thread_count())
        own = min(own, u64(__double_as_longlong(distance[u64(vertices[i])])));
    own = warp_min(own);
    if (lane() == 0 && own < *least) atomicMin(least, own);
}

// Offer each vertex as predecessor to the neighbors that a shortest path reaches through it. If such an edge joins two
// vertices at the same distance, set `level` instead. If rows are by labels, `names` contains the vertex of each row,
// which is offered.
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

// Statistics of weights: how many are negative or NaN, how many are finite, and the sum of the finite ones.
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
