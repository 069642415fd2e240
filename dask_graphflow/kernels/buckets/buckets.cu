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
// Members that share memory have the piles of their own vertices, and put vertices onto the piles of all members. They
// take the same steps, because each step depends only on what all members have told.
//
// Distances are never negative, so their bits, read as integers, are in the same order.
#include "common.cuh"
#include "appending.cuh"
#include "edges.cuh"
#include "gang.cuh"

constexpr u64 FURTHEST = 0x7ff0000000000000ull;  // the bits of infinity

// The vertices that a step puts onto piles.
struct Found {
    Listed near;
    Listed settled;  // the near vertices that come below the limit for the first time
    i64 far;
    i64 least;       // the bits of the smallest distance put onto the far pile; NEVER for none
};

// Each pile has two lists. What is put onto a pile while it is used up goes into the other list.
enum List : u32 { NEAR_LISTS = 0, SETTLED_LISTS = 2, FAR_LISTS = 4, LISTS = 6 };

// What all members found, and the number of vertices in the member's own lists.
struct Heard {
    Found all;
    i64 ends[LISTS];
};

// The state of a search. Its numbers are those of all members.
struct State {
    Listed near;
    Listed settled;       // vertices that came below the limit since it was raised
    i64 far;              // number of vertices on the far pile
    i64 least;            // bits of a lower bound of the distances on the far pile, except of vertices also near
    double limit;         // vertices with smaller distances are near
    i64 turn;             // number of the current turn, from 1; relaxing heavy edges is a turn too
    i64 first_turn;       // the first turn since the limit was raised, or since heavy edges were relaxed
    i64 near_side, settled_side, far_side;  // which of its two lists each pile uses
    i64 vertices, edges;  // number of vertices and edges relaxed
    i64 steps;            // of this launch
    i64 near_here, settled_here, far_here;  // number of vertices on this member's piles
};

struct Going {
    MeetingsOf<Found, Heard> meetings;
    State now;
};

// When to stop a launch.
struct Limits {
    double delta, cutoff;
    double horizon;   // the distance that all members have reached
    i64 ahead;        // beyond the horizon, a launch continues only until this many edges have been relaxed
    i64 most_steps;
    i64 most_edges, longest;  // a launch stops at a pile with more edges, or with a longer row
};

// Puts vertices onto piles from outside, relaxes light edges, relaxes heavy edges, or sorts the far pile.
enum Kind : u32 { PUT, TURN, SETTLE, SORT };

// FIRST is near, and was not near before, or not since its heavy edges were relaxed. WAITS is already on the far pile.
enum Pile { NEITHER, NEAR, FIRST, FAR, WAITS };

__device__ __forceinline__ bool is_near(Pile to) { return to == NEAR || to == FIRST; }

__device__ __forceinline__ i64 bits_of(double distance) { return i64(__double_as_longlong(distance)); }
__device__ __forceinline__ double distance_of(i64 bits) { return __longlong_as_double(bits); }

__device__ __forceinline__ void clear(Found& found)
{
    if (lane() == 0) found = Found{{0, 0, 0}, {0, 0, 0}, 0, NEVER};
}

__device__ __forceinline__ Heard fresh_of(const Heard& from)
{
    Heard heard{{fresh_of(from.all.near), fresh_of(from.all.settled), fresh(from.all.far), fresh(from.all.least)}, {}};
#pragma unroll
    for (u32 i = 0; i < LISTS; ++i) heard.ends[i] = fresh(from.ends[i]);
    return heard;
}

__device__ __forceinline__ State fresh_of(const State& from)
{
    i64 words[sizeof(State) / sizeof(i64)];
#pragma unroll
    for (u32 i = 0; i < sizeof(State) / sizeof(i64); ++i) words[i] = fresh(reinterpret_cast<const i64*>(&from)[i]);
    State state;
    memcpy(&state, words, sizeof(State));
    return state;
}

__device__ __forceinline__ void add(Listed& to, const Listed& more)
{
    to.count += more.count;
    to.edges += more.edges;
    to.largest = max(to.largest, more.largest);
}

// Update the state after a step, with what all members heard about it.
__device__ __forceinline__ void advance(State& now, Kind kind, const Heard& heard, bool peers)
{
    const Found& found = heard.all;
    now.least = kind == SORT ? found.least : min(now.least, found.least);
    if (kind == TURN || kind == SETTLE) {
        now.vertices += kind == TURN ? now.near.count : 0;
        now.edges += kind == TURN ? now.near.edges : now.settled.edges;
        ++now.turn;
        now.near_side = 1 - now.near_side;
        now.near = Listed{0, 0, 0};
    }
    if (kind == SETTLE) {
        now.settled_side = 1 - now.settled_side;
        now.settled = Listed{0, 0, 0};
    }
    if (kind == SORT) {
        now.far_side = 1 - now.far_side;
        now.far = 0;
    }
    if (kind == SETTLE || kind == SORT) now.first_turn = now.turn;
    add(now.near, found.near);
    add(now.settled, found.settled);
    if (kind == SORT) now.settled.count = found.near.count;  // all of them are near for the first time
    now.far += found.far;
    // An array that is indexed by constants alone stays in registers.
    const auto end = [&](u32 lists, i64 side) { return side ? heard.ends[lists + 1] : heard.ends[lists]; };
    now.near_here = peers ? end(NEAR_LISTS, now.near_side) : now.near.count;
    now.settled_here = peers ? end(SETTLED_LISTS, now.settled_side) : now.settled.count;
    now.far_here = peers ? end(FAR_LISTS, now.far_side) : now.far;
}

// The number of light and heavy edges of a vertex.
struct alignas(16) Sizes {
    i64 light, heavy;
};

// The rows of a member's own vertices, and what it shares with other members. Vertices in lists are positions.
template <typename I, typename W>
struct Search {
    const i64* offsets;
    const i64* middle;         // where the heavy edges of each row begin
    const I* ends;             // numbers of all members' vertices
    const W* weights;
    i64 most;                  // number of entries of a list
    Columns<double> distance;  // of all members' vertices. Those of other members' vertices are upper bounds
    Columns<u32> turns;        // the turn whose near pile each vertex was last put onto; 0 for never
    Columns<u32> waiting;      // a bitmap of the far pile
    Columns<I> lists;
    Columns<u64> tails;        // where the lists end, if there are several members; 0 for lists not in use
    Columns<const Sizes> sizes;  // those of other members are read

    __device__ __forceinline__ I* list(u32 member, u32 which) const { return lists.of[member] + which * most; }

    __device__ __forceinline__ Sizes sizes_of(u32 rank, u32 owner, u64 vertex) const
    {
        if (owner != rank) return sizes.of[owner][vertex];
        return {middle[vertex] - offsets[vertex], offsets[vertex + 1] - middle[vertex]};
    }
};

// A vertex that was offered a distance, and the pile to put it onto.
template <typename I>
struct Offer {
    Pile to = NEITHER;
    u32 owner = 0;
    I vertex = 0;
    double there = 0;
};

// Append the vertices of a warp's lanes to the lists of their owners' piles, to which several members append. An atomic
// on a tail takes a microsecond, so lanes reserve the places in all lists at once. This is not inlined, since it is called
// in several places, and compiling all of them takes long. All lanes call it together.
template <typename I, typename W>
__device__ __noinline__ void append_to_owners(u32 members, const Search<I, W>& search, u32 near, u32 settled, u32 far,
                                              Pile to, u32 owner, I vertex)
{
    const u32 each = 3 * members > 32 ? 1 : 3;  // lists at once
    for (u32 first = 0; first < 3; first += each) {
        u32 count = 0, before[3] = {0, 0, 0};
        const auto in_list = [&](u32 i) {
            return i >= first && i < first + each && (i == 0 ? is_near(to) : to == (i == 1 ? FIRST : FAR));
        };
#pragma unroll
        for (u32 i = 0; i < 3; ++i)
            for (u32 q = 0; q < members; ++q) {
                const bool mine = in_list(i) && owner == q;
                const u32 lanes = __ballot_sync(ALL_LANES, mine);
                if (mine) before[i] = __popc(lanes & lanes_before());
                if (i >= first && lane() == (i - first) * members + q) count = __popc(lanes);
            }
        u64 place = 0;
        if (count) {
            const u32 i = first + lane() / members, list = i == 0 ? near : i == 1 ? settled : far;
            place = atomicAdd_system(search.tails.of[lane() % members] + list, u64(count));
        }
#pragma unroll
        for (u32 i = 0; i < 3; ++i) {
            const u32 from = i >= first ? (i - first) * members + owner : 0;
            const u64 end = __shfl_sync(ALL_LANES, place, from % 32);
            if (in_list(i)) search.list(owner, i == 0 ? near : i == 1 ? settled : far)[end + before[i]] = vertex;
        }
    }
}

// A step that offers distances: where vertices are put. PEERS says whether there are other members that share memory.
template <typename I, typename W, bool PEERS>
struct Offering {
    const Gang& gang;
    const Search<I, W>& search;
    Found* found;
    double limit, cutoff;
    u32 turn, first_turn;
    u32 near, settled, far;              // lists
    i64 near_end, settled_end, far_end;  // where they end, if there is one member

    // Offer a distance to a vertex by its number.
    __device__ __forceinline__ Offer<I> make(I number, double there) const
    {
        const u32 rank = PEERS ? gang.rank : 0;
        double* distance = search.distance.of[rank] + number;
        if (!(there <= cutoff) || !(there < __ldcg(distance))) return {};
        const u32 owner = PEERS ? gang.owner_of(number) : 0;
        if (!lower(distance, there, owner == rank)) return {};
        if (owner != rank && !lower_there(search.distance.of[owner] + number, distance, there)) return {};
        const I vertex = PEERS ? number - I(gang.bounds[owner]) : number;
        return {pile_of(owner, u64(vertex), there), owner, vertex, there};
    }

    // Lower a distance in this member's memory. Return false if it was not larger.
    __device__ __forceinline__ bool lower(double* distance, double there, bool own) const
    {
        u64* at = reinterpret_cast<u64*>(distance);
        const u64 bits = u64(bits_of(there));
        return bits < (own && PEERS ? atomicMin_system(at, bits) : atomicMin(at, bits));
    }

    // Lower a distance in the memory of its owner. If it was not larger, this member remembers what it was.
    __device__ __forceinline__ bool lower_there(double* distance, double* known, double there) const
    {
        const u64 bits = u64(bits_of(there)), before = atomicMin_system(reinterpret_cast<u64*>(distance), bits);
        if (before < bits) atomicMin(reinterpret_cast<u64*>(known), before);
        return bits < before;
    }

    __device__ __forceinline__ Pile pile_of(u32 owner, u64 vertex, double there) const
    {
        if (there < limit) {
            u32* mark = search.turns.of[owner] + vertex;
            const u32 before = PEERS ? atomicMax_system(mark, turn + 1) : atomicMax(mark, turn + 1);
            return before > turn ? NEITHER : before < first_turn ? FIRST : NEAR;
        }
        u32* word = search.waiting.of[owner] + vertex / 32;
        const u32 bit = 1u << (vertex % 32);
        return (PEERS ? atomicOr_system(word, bit) : atomicOr(word, bit)) & bit ? WAITS : FAR;
    }

    // Append the vertices of a warp's lanes to the lists of their piles. All lanes call it together.
    __device__ __forceinline__ void put(const Offer<I>& offer) const
    {
        if (PEERS) {
            if (__any_sync(ALL_LANES, offer.to != NEITHER && offer.to != WAITS))
                append_to_owners(gang.size, search, near, settled, far, offer.to, offer.owner, offer.vertex);
            return;
        }
        append(is_near(offer.to), offer.vertex, near, near_end, &found->near.count);
        append(offer.to == FIRST, offer.vertex, settled, settled_end, &found->settled.count);
        append(offer.to == FAR, offer.vertex, far, far_end, &found->far);
    }

    __device__ __forceinline__ void append(bool mine, I vertex, u32 which, i64 end, i64* count) const
    {
        const i64 place = end + place_for(mine, count);
        if (mine) search.list(0, which)[place] = vertex;
    }
};

// Return where a turn puts vertices. A list that is used up is empty afterwards.
template <bool PEERS, typename I, typename W>
__device__ __forceinline__ Offering<I, W, PEERS> begin_turn(const Gang& gang, const Search<I, W>& search, const State& now,
                                                            bool settling, double cutoff, Found* found)
{
    if (PEERS && thread_index() == 0)
        search.tails.of[gang.rank][settling ? SETTLED_LISTS + now.settled_side : NEAR_LISTS + now.near_side] = 0;
    const u32 turn = u32(now.turn), settled_side = u32(settling ? 1 - now.settled_side : now.settled_side);
    return {gang, search, found, now.limit, cutoff, turn, settling ? turn + 1 : u32(now.first_turn),
            NEAR_LISTS + u32(1 - now.near_side), SETTLED_LISTS + settled_side, FAR_LISTS + u32(now.far_side),
            0, settling ? 0 : now.settled.count, now.far};
}

// A lane's part of what a step finds.
struct Counting {
    Found mine{{0, 0, 0}, {0, 0, 0}, 0, NEVER};

    // Count a vertex that an edge leads to.
    template <typename I, typename W, bool PEERS>
    __device__ __forceinline__ void add(const Offering<I, W, PEERS>& offering, const Offer<I>& offer)
    {
        if (is_near(offer.to)) {
            const u32 rank = PEERS ? offering.gang.rank : 0;
            const Sizes sizes = offering.search.sizes_of(rank, offer.owner, u64(offer.vertex));
            add(mine.near, sizes.light);
            if (offer.to == FIRST) add(mine.settled, sizes.heavy);
        }
        if (offer.to == FAR || offer.to == WAITS) far(offer.there, offer.to == FAR);
    }

    static __device__ __forceinline__ void add(Listed& listed, i64 edges)
    {
        ++listed.count;
        listed.edges += edges;
        listed.largest = max(listed.largest, edges);
    }
    __device__ __forceinline__ void far(double there, bool added)
    {
        mine.far += added;
        mine.least = min(mine.least, bits_of(there));
    }

    // Add what the lanes of a warp have counted. A single member has counted the vertices to find their places.
    __device__ __forceinline__ void report(Found* found, bool vertices) const
    {
        __syncwarp();
        report(found->near, mine.near, vertices);
        report(found->settled, mine.settled, vertices);
        if (!__any_sync(ALL_LANES, mine.least != NEVER)) return;
        const i64 least = warp_min(mine.least), far = warp_sum(vertices ? mine.far : 0);
        if (lane() != 0) return;
        atomicMin(&found->least, least);
        if (far) add_to(&found->far, far);
    }

    static __device__ __forceinline__ void report(Listed& to, const Listed& mine, bool vertices)
    {
        if (!__any_sync(ALL_LANES, mine.count > 0)) return;
        const i64 count = warp_sum(vertices ? mine.count : 0), edges = warp_sum(mine.edges);
        const i64 largest = warp_max(mine.largest);
        if (lane() != 0) return;
        if (count) add_to(&to.count, count);
        if (!edges) return;
        add_to(&to.edges, edges);
        atomicMax(&to.largest, largest);
    }
};

// Relax the light edges of a near pile, or the heavy edges of the settled vertices, in equal shares. `costs` is the
// running sum of the numbers of these edges.
template <typename I, typename W, bool PEERS>
__global__ void __launch_bounds__(THREADS)
    relax(const __grid_constant__ Gang gang, const __grid_constant__ Search<I, W> search, const i64* costs, bool settling,
          double cutoff, Going* going)
{
    __shared__ I queues[3][THREADS / 32][QUEUED];
    const u32 warp = threadIdx.x / 32, rank = PEERS ? gang.rank : 0;
    const State& now = going->now;
    Found* found = going->meetings.telling;
    const I* pile = search.list(rank, u32(settling ? SETTLED_LISTS + now.settled_side : NEAR_LISTS + now.near_side));
    const i64* begins = settling ? search.middle : search.offsets;
    const double* own = search.distance.of[rank] + (PEERS ? gang.bounds[rank] : 0);
    const u64 count = u64(settling ? now.settled_here : now.near_here);
    const Offering<I, W, PEERS> turn = begin_turn<PEERS>(gang, search, now, settling, cutoff, found);
    const auto appending = [&](u32 at, u32 list, i64 end, i64* counted) {
        i64* tail = PEERS ? reinterpret_cast<i64*>(search.tails.of[rank] + list) : counted;
        return Appending<I>{queues[at][warp], search.list(rank, list) + (PEERS ? 0 : end), tail, PEERS};
    };
    Appending<I> near = appending(0, turn.near, turn.near_end, &found->near.count);
    Appending<I> far = appending(1, turn.far, turn.far_end, &found->far);
    Appending<I> settled = appending(2, turn.settled, turn.settled_end, &found->settled.count);
    Counting counting;
    visit_edges(costs, count, [&](const Span& span) {
        u64 vertex = 0;
        i64 ahead = 0;
        double mine = 0;
        if (span.row < count) {
            vertex = u64(pile[span.row]);
            ahead = begins[vertex] - costs[span.row];
            mine = __ldcg(own + vertex);
        }
        visit_span(span, mine, ahead, [&](bool valid, double here, i64 edge) {
            Offer<I> offer;
            if (valid) {
                offer = turn.make(__ldcs(search.ends + edge), __dadd_rn(here, double(__ldcs(search.weights + edge))));
                counting.add(turn, offer);
            }
            const bool here_too = offer.owner == rank;
            near.add(here_too && is_near(offer.to), offer.vertex);
            settled.add(here_too && offer.to == FIRST, offer.vertex);
            far.add(here_too && offer.to == FAR, offer.vertex);
            if (PEERS) {
                if (here_too) offer.to = NEITHER;
                turn.put(offer);
            }
        });
    });
    near.flush();
    far.flush();
    settled.flush();
    counting.report(found, PEERS);
}

// Tell all members what this one has found, and wait for what they tell; see swap_numbers(). `tails` are those of
// the member's lists, or null for a single member.
__device__ __forceinline__ bool tell(const Gang& gang, const u64* tails, const Found& found, Heard& heard)
{
    const bool member = lane() < gang.size;
    const Listed near = fresh_of(found.near), settled = fresh_of(found.settled);
    i64 numbers[] = {near.count, near.edges, near.largest, settled.count, settled.edges, settled.largest,
                     fresh(found.far), fresh(found.least)};
    const bool fine = swap_numbers(gang, numbers);
    if (tails) {
#pragma unroll
        for (u32 i = 0; i < 7; ++i) {
            const i64 number = member ? numbers[i] : 0;
            numbers[i] = i % 3 == 2 ? warp_max(number) : warp_sum(number);
        }
        numbers[7] = warp_min(member ? numbers[7] : NEVER);
    }
    heard.all = Found{{numbers[0], numbers[1], numbers[2]}, {numbers[3], numbers[4], numbers[5]}, numbers[6], numbers[7]};
#pragma unroll
    for (u32 i = 0; i < LISTS; ++i) heard.ends[i] = tails ? i64(fresh(tails[i])) : 0;
    return fine;
}

// Sort the far pile. Vertices that have come nearer than the old limit were already relaxed. The others become near or
// stay far. The near pile and the settled vertices are none before. Only their owners put vertices onto piles.
template <bool PEERS, typename I, typename W>
__device__ __forceinline__ void sort_far(const Gang& gang, const Search<I, W>& search, const State& now, double old_limit,
                                         bool alone, Found& found)
{
    const u32 rank = PEERS ? gang.rank : 0, near_list = u32(NEAR_LISTS + now.near_side);
    const u32 settled_list = u32(SETTLED_LISTS + now.settled_side), far_list = u32(FAR_LISTS + 1 - now.far_side);
    const I* pile = search.list(rank, u32(FAR_LISTS + now.far_side));
    const double* own = search.distance.of[rank] + (PEERS ? gang.bounds[rank] : 0);
    I *near = search.list(rank, near_list), *settled = search.list(rank, settled_list), *far = search.list(rank, far_list);
    i64* tails = reinterpret_cast<i64*>(search.tails.of[rank]);
    if (PEERS && thread_index() == 0) tails[FAR_LISTS + now.far_side] = 0;
    const i64 threads = alone ? blockDim.x : i64(thread_count());
    const i64 mine = alone ? threadIdx.x : i64(thread_index());
    Counting counting;
    for (i64 first = mine - lane(); first < now.far_here; first += threads) {
        Pile to = NEITHER;
        I vertex = 0;
        double there = 0;
        if (first + lane() < now.far_here) {
            vertex = __ldcg(pile + first + lane());
            there = __ldcg(own + vertex);
            to = there < old_limit ? NEITHER : there < now.limit ? NEAR : FAR;
            if (to != FAR) atomicAnd(search.waiting.of[rank] + u64(vertex) / 32, ~(1u << (u64(vertex) % 32)));
        }
        i64 place = place_for(to == NEAR, PEERS ? tails + near_list : &found.near.count);
        if (PEERS) place_for(to == NEAR, tails + settled_list);  // it ends where the near list ends
        if (to == NEAR) {
            near[place] = settled[place] = vertex;
            search.turns.of[rank][vertex] = u32(now.turn);
            const Sizes sizes = search.sizes_of(rank, rank, u64(vertex));
            counting.add(counting.mine.near, sizes.light);
            counting.add(counting.mine.settled, sizes.heavy);
        }
        place = place_for(to == FAR, PEERS ? tails + far_list : &found.far);
        if (to == FAR) {
            far[place] = vertex;
            counting.far(there, true);
        }
    }
    counting.report(&found, PEERS);
}

// Relax pile after pile, and raise the limit, as long as piles are small. A step relaxes a near pile, or relaxes the
// heavy edges of the settled vertices, or sorts the far pile. At first, the members tell what a step of the given kind
// has found before the launch.
template <typename I, typename W, bool PEERS>
__global__ void __launch_bounds__(GANG, 1)
    relax_on(const __grid_constant__ Gang gang, const __grid_constant__ Search<I, W> search,
             const __grid_constant__ Limits limits, u32 before, Going* going)
{
    __shared__ Found alone_found[SETS];
    const u32 rank = PEERS ? gang.rank : 0;
    const double* own = search.distance.of[rank] + (PEERS ? gang.bounds[rank] : 0);
    MeetingOf<Found, Heard> meeting{gang, &going->meetings};
    meeting.prepare(alone_found);
    const auto meet = [&](const Found& found, Heard& heard) {
        return tell(gang, PEERS ? search.tails.of[rank] : nullptr, found, heard);
    };
    State now = fresh_of(going->now);
    now.steps = 0;
    advance(now, Kind(before), meeting.take(false, [](Found&) {}, meet), PEERS);

    i64 items = 0;
    const auto count_items = [&] {
        items = now.near.count ? now.near.count : now.settled.count ? now.settled.count : now.far;
    };
    const auto stops = [&] {
        const Listed& next = now.near.count ? now.near : now.settled;
        if (meeting.failed || !items || now.steps == limits.most_steps) return true;
        if (next.edges > limits.most_edges || next.largest > limits.longest) return true;
        return !next.count && now.edges >= limits.ahead && distance_of(now.least) > limits.horizon;
    };
    const auto turn = [&](bool alone, bool settling, Found& found) {
        const I* pile = search.list(rank, u32(settling ? SETTLED_LISTS + now.settled_side : NEAR_LISTS + now.near_side));
        const Offering<I, W, PEERS> turn = begin_turn<PEERS>(gang, search, now, settling, limits.cutoff, &found);
        Counting counting;
        visit_rows(
            settling ? search.middle : search.offsets, settling ? search.offsets + 1 : search.middle,
            settling ? now.settled_here : now.near_here, alone, [&](i64 i) { return u64(__ldcg(pile + i)); },
            [&](bool valid, u64 vertex, i64 edge) {
                Offer<I> offer;
                if (valid) {
                    offer = turn.make(search.ends[edge], __dadd_rn(__ldcg(own + vertex), double(search.weights[edge])));
                    counting.add(turn, offer);
                }
                turn.put(offer);
            });
        counting.report(&found, PEERS);
    };
    const auto step = [&](bool alone) {
        const Kind kind = now.near.count ? TURN : now.settled.count ? SETTLE : SORT;
        const double old_limit = now.limit;
        if (kind == SORT) {
            const double least = distance_of(now.least);
            now.limit = __dadd_rn(fmax(old_limit, least), limits.delta);
            // If delta is lost in rounding, raise the limit by the smallest possible step.
            if (!(now.limit > least)) now.limit = distance_of(now.least + 1);
        }
        const auto find = [&](Found& found) {
            if (kind == SORT)
                sort_far<PEERS>(gang, search, now, old_limit, alone, found);
            else
                turn(alone, kind == SETTLE, found);
        };
        advance(now, kind, meeting.take(alone, find, meet), PEERS);
        ++now.steps;
        count_items();
    };
    const auto save = [&] {
        going->now = now;
        going->meetings.failed = meeting.failed;
    };
    const auto load = [&] {
        now = fresh_of(going->now);
        meeting.failed = fresh(going->meetings.failed);
        count_items();
    };
    count_items();
    take_steps(items, &going->meetings.blocks, stops, step, save, load);
    meet_grid(&going->meetings.blocks);  // no block reads any more when the state is written
    if (threadIdx.x == 0 && blockIdx.x == 0) save();
}

// Put vertices to which other members offer smaller distances, by messages, onto piles. Each vertex is offered at most
// once.
template <typename I, typename W>
__global__ void __launch_bounds__(THREADS)
    offer_distances(const __grid_constant__ Gang gang, const __grid_constant__ Search<I, W> search, const I* vertices,
                    const double* values, u64 count, double cutoff, Going* going)
{
    const State& now = going->now;
    Found* found = going->meetings.telling;
    // Near vertices are marked with the turn after the given one. These are for the current turn.
    const Offering<I, W, false> offering{gang, search, found, now.limit, cutoff, u32(now.turn) - 1, u32(now.first_turn),
                                         NEAR_LISTS + u32(now.near_side), SETTLED_LISTS + u32(now.settled_side),
                                         FAR_LISTS + u32(now.far_side), now.near.count, now.settled.count, now.far};
    Counting counting;
    for (u64 first = thread_index() - lane(); first < count; first += thread_count()) {
        const u64 i = first + lane();
        Offer<I> offer;
        if (i < count) {
            offer = offering.make(vertices[i], values[i]);
            counting.add(offering, offer);
        }
        offering.put(offer);
    }
    counting.report(found, false);
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

// Count the vertices that a search begins with. They are near, and come below the limit for the first time.
template <typename I>
__global__ void measure_piles(const i64* offsets, const i64* middle, const I* vertices, u64 count, Going* going)
{
    Found* found = going->meetings.telling;
    Counting counting;
    for (u64 i = thread_index(); i < count; i += thread_count()) {
        const u64 vertex = u64(vertices[i]);
        counting.add(counting.mine.near, middle[vertex] - offsets[vertex]);
        counting.add(counting.mine.settled, offsets[vertex + 1] - middle[vertex]);
    }
    counting.report(found, true);
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
