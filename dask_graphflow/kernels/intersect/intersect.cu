// Intersections of sorted rows: the triangles that edges close. host.py has the twin, and defines the terms.
//
// A block takes a tile of the entries of consecutive middle vertices. For each of these vertices, it puts the vertex's
// row into a hash table in shared memory (TRUST: S. Pandey et al., "TRUST: Triangle Counting Reloaded on GPUs", 2021).
// Then each warp reads the row of a last vertex up to the middle one, and looks up each end in the table. A row that is
// too long for the table is searched in memory instead.
#include "common.cuh"
#include "edge_op.cuh"
#include "edges.cuh"
#include "gang.cuh"

constexpr u32 TILE = 512;        // entries
constexpr u32 SLOTS = 2048;      // slots of the table
constexpr u64 MOST = SLOTS / 2;  // most ends of a row that fits the table
constexpr u32 WARPS = THREADS / 32;

// Fibonacci hashing, because ends are small numbers and often consecutive.
__device__ __forceinline__ u32 first_slot(u64 end, u32 slots)
{
    return u32(end * 0x9e3779b97f4a7c15ull >> 20) & (slots - 1);
}

// A row in shared memory, with a count for each end. A key of -1 is an empty slot.
template <typename I>
struct Table {
    I* keys;
    u32* counts;
    u32* places;  // index of each end in the row
    u32 slots;

    // Fill the table. All threads of a block call this together; it has barriers.
    __device__ __forceinline__ void fill(const I* ends, u32 size)
    {
        for (slots = 64; slots < size * 2;) slots *= 2;
        for (u32 slot = threadIdx.x; slot < slots; slot += blockDim.x) {
            keys[slot] = I(-1);
            counts[slot] = 0;
        }
        __syncthreads();
        for (u32 i = threadIdx.x; i < size; i += blockDim.x) {
            u32 slot = first_slot(u64(ends[i]), slots);
            while (compare_and_swap(keys + slot, I(-1), ends[i]) >= 0) slot = (slot + 1) & (slots - 1);
            places[slot] = i;
        }
        __syncthreads();
    }

    // Return the slot of an end, or `slots` if it is not in the table.
    __device__ __forceinline__ u32 find(I end) const
    {
        for (u32 slot = first_slot(u64(end), slots);; slot = (slot + 1) & (slots - 1)) {
            const I key = keys[slot];
            if (key == end) return slot;
            if (key < 0) return slots;
        }
    }
};

// Return the index of an end in a sorted row, or `size` if it is not there.
template <typename I>
__device__ __forceinline__ u64 sought(const I* ends, u64 size, I end)
{
    const u64 place = u64(first_of(ends, 0, i64(size), end));
    return place < size && ends[place] == end ? place : size;
}

// With weights, of_row and of_also are sums of the weights opposite the last and the middle vertex, and of_own is the
// sum of the weights opposite the first vertex. Without weights, of_also counts triangles for the edge from the last to
// the first vertex, or is null.
template <typename I>
__global__ void __launch_bounds__(THREADS)
    triangles(const i64* offsets, const I* ends, const i64* enter_offsets, const I* entering, u64 vertices,
              const i64* own_offsets, const I* own_ends, const int* weights, const int* enter_weights,
              const int* own_weights, typename edge::Unsigned<I>::type* of_row, typename edge::Unsigned<I>::type* of_also,
              typename edge::Unsigned<I>::type* of_own)
{
    using Count = typename edge::Unsigned<I>::type;
    __shared__ I keys[SLOTS];
    __shared__ u32 counts[SLOTS], places[SLOTS];
    Table<I> table{keys, counts, places, 0};
    const i64 entries = enter_offsets[vertices];
    for (i64 first = i64(blockIdx.x) * TILE; first < entries; first += i64(gridDim.x) * TILE) {
        const i64 stop = min(first + i64(TILE), entries);
        for (i64 entry = first; entry < stop;) {
            // The same for all threads, and so are all branches up to the loop of the warps.
            const u64 middle = row_of(enter_offsets, vertices, entry);
            const i64 until = min(enter_offsets[middle + 1], stop), own_first = own_offsets[middle];
            const I* own = own_ends + own_first;
            const u64 size = u64(own_offsets[middle + 1] - own_first);
            const bool tabled = size <= MOST;
            if (size && tabled) table.fill(own, u32(size));
            for (i64 k = entry + threadIdx.x / 32; size && k < until; k += WARPS) {
                const u64 row = u64(entering[k]);
                const i64 end = offsets[row + 1];
                const u32 weight = weights ? enter_weights[k] : 1;
                i64 found = 0, also = 0;
                for (i64 at = offsets[row] + lane();; at += 32) {
                    // The row of an entering edge contains the middle vertex, so some lane ends the loop.
                    const I there = at < end ? ends[at] : I(middle);
                    u64 place = size;
                    if (u64(there) < middle && tabled) {
                        const u32 slot = table.find(there);
                        if (slot < table.slots) {
                            place = places[slot];
                            atomicAdd(counts + slot, weight);
                        }
                    } else if (u64(there) < middle) {
                        place = sought(own, size, there);
                        if (place < size) atomicAdd(of_own + own_first + place, Count(weight));
                    }
                    if (place < size) {
                        found += weights ? own_weights[own_first + place] : 1;
                        if (weights)
                            also += weights[at];
                        else if (of_also)
                            atomicAdd(of_also + at, Count(1));
                    }
                    if (__ballot_sync(ALL_LANES, u64(there) >= middle)) {
                        found = warp_sum(found);
                        also = warp_sum(also);
                        if (at < end && u64(there) == middle) {
                            of_row[at] = Count(found);
                            if (weights) of_also[at] = Count(also);
                        }
                        break;
                    }
                }
            }
            if (size && tabled) {
                __syncthreads();
                for (u32 slot = threadIdx.x; slot < table.slots; slot += blockDim.x)
                    if (counts[slot]) atomicAdd(of_own + own_first + places[slot], Count(counts[slot]));
                __syncthreads();
            }
            entry = until;
        }
    }
}

template <typename I>
__global__ void credit(const i64* offsets, const I* ends, u64 vertices, const typename edge::Unsigned<I>::type* last,
                       const typename edge::Unsigned<I>::type* middle, const typename edge::Unsigned<I>::type* first, i64* totals)
{
    visit_edges(offsets, vertices, [&](const Span& span) {
        visit_span(span, span.row, 0, [&](bool valid, u64 row, i64 edge) {
            if (!valid) return;
            const i64 own = i64(last[edge]), more = i64(middle[edge]) + i64(first[edge]);
            if (own) add_to(totals + row, own);
            if (more) add_to(totals + u64(ends[edge]), more);
        });
    });
}

// Each warp takes an edge that leaves, and looks up the ends of its late end's row in the row of its early end.
template <typename I, typename E>
__global__ void lose(const i64* offsets, const I* ends, const E* edges, const unsigned char* state,
                     typename edge::Unsigned<I>::type* lost, const i64* own_offsets, const I* own_ends, const E* own_edges,
                     const unsigned char* own_state, typename edge::Unsigned<I>::type* own_lost, const I* row, const I* late,
                     const I* early, u64 pairs)
{
    using Count = typename edge::Unsigned<I>::type;
    for (u64 pair = warp_index(); pair < pairs; pair += warp_count()) {
        const I before = early[pair], after = late[pair];
        const i64 first = own_offsets[before], stop = offsets[u64(row[pair]) + 1];
        const u64 size = u64(own_offsets[u64(before) + 1] - first);
        for (i64 at = offsets[row[pair]] + lane(); at < stop; at += 32) {
            const I end = ends[at];
            const u64 place = sought(own_ends + first, size, end);
            if (place == size) continue;
            const u64 edge = u64(edges[at]), other = u64(own_edges[first + place]);
            const u32 here = state[edge], there = own_state[other];
            // If several edges of a triangle leave, the one whose opposite vertex comes first removes the triangle.
            if (here > 1 || there > 1 || (here && end > before) || (there && end > after)) continue;
            if (!here) atomicAdd(lost + edge, Count(1));
            if (!there) atomicAdd(own_lost + other, Count(1));
        }
    }
}

// End a step: edges that leave are removed, and the others lose triangles. List the owned edges, which come first, that
// are left with at most `limit` triangles.
template <typename I>
__global__ void settle(unsigned char* state, typename edge::Unsigned<I>::type* lost, I* support, u64 owned, u64 size,
                       i64 limit, i64* fallen, i64* count)
{
    for (u64 edge = thread_index(); edge - lane() < size; edge += thread_count()) {
        bool falls = false;
        if (edge < size) {
            if (state[edge] == 1) state[edge] = 2;
            const auto fewer = lost[edge];
            if (fewer) {
                lost[edge] = 0;
                if (edge < owned) {
                    const I left = support[edge] - I(fewer);
                    support[edge] = left;
                    falls = left <= limit;
                }
            }
        }
        const i64 place = place_for(falls, count);
        if (falls) fallen[place] = i64(edge);
    }
}

constexpr i64 LEAVES = -1, REMOVED = -2;  // instead of the number of triangles of an edge that does not remain
constexpr i64 MOST_SHARES = 256;  // most warps that share the row of one edge

struct EdgePeeling {
    i64 begin, count;  // where the edges of the next step begin in the list, and their number
    i64 limit, left;   // the number of edges that remain
    i64 sets[SETS];
    i64 least[SETS];  // the smallest number of triangles of the edges that remain
    u32 arrived;
};

// The list of edges, of which the last ones leave now.
template <typename I, typename E>
struct Leaving {
    const i64* offsets;
    const I* ends;
    const E* edges;
    const I *late, *early;
    I* support;
    const E* list;  // the edges that leave
    i64 count;

    // Take a triangle from an edge. Return whether this leaves it with `limit` triangles.
    __device__ __forceinline__ bool take(E edge, i64 limit) const
    {
        using Count = typename edge::Unsigned<I>::type;
        return I(atomicAdd(reinterpret_cast<Count*>(support + edge), Count(-1))) == I(limit) + 1;
    }

    // Take the triangles of the leaving edges from the edges that remain. Append those that are left with `limit`
    // triangles. If there are few leaving edges, several warps share the row of each.
    __device__ __forceinline__ void take_triangles(i64 limit, E* fallen, i64* found) const
    {
        i64 shares = 1;
        while (shares < MOST_SHARES && count * shares * 2 <= i64(warp_count())) shares *= 2;
        for (i64 item = i64(warp_index()); item < count * shares; item += i64(warp_count())) {
            const E leaving = __ldcg(list + item / shares);
            const I after = late[leaving], before = early[leaving];
            const i64 first = offsets[before], stop = offsets[u64(after) + 1];
            const u64 size = u64(offsets[u64(before) + 1] - first);
            i64 at = offsets[after] + item % shares * 32 + lane();
            for (; __any_sync(ALL_LANES, at < stop); at += shares * 32) {
                bool falls = false, other_falls = false;
                E edge = 0, other = 0;
                const I end = at < stop ? ends[at] : I(0);
                const u64 place = at < stop ? sought(ends + first, size, end) : size;
                if (place < size) {
                    edge = edges[at];
                    other = edges[first + i64(place)];
                    const i64 here = __ldcg(support + edge), there = __ldcg(support + other);
                    // If several edges of a triangle leave, the one whose opposite vertex comes first takes it.
                    if (here != REMOVED && there != REMOVED && !(here == LEAVES && end > before) &&
                        !(there == LEAVES && end > after)) {
                        falls = here >= 0 && take(edge, limit);
                        other_falls = there >= 0 && take(other, limit);
                    }
                }
                const i64 one = place_for(falls, found);
                if (falls) fallen[one] = edge;
                const i64 two = place_for(other_falls, found);
                if (other_falls) fallen[two] = other;
            }
        }
    }
};

// Remove the edges with at most `limit` triangles, then those that are left with as many, and so on. Then raise the
// limit to the smallest number of triangles that is left, up to `most`. `truss` is set to 2 more than the limit at which
// an edge is removed. Stop once fewer than `fewest` edges remain, so that the host can drop the others from the rows.
// `remaining` contains the edges that remain, and `list` begins with those that leave now.
template <typename I, typename E>
__global__ void __launch_bounds__(GANG)
    peel_edges(const i64* offsets, const I* ends, const E* edges, const I* late, const I* early, I* support, int* truss,
               const E* remaining, u64 size, i64 most, i64 fewest, E* list, EdgePeeling* peeling)
{
    i64 begin = peeling->begin, count = peeling->count, limit = peeling->limit, left = peeling->left;
    const u64 whole = (size + 31) / 32 * 32;
    u32 set = 0;
    const auto leave = [&](E edge) {
        support[edge] = I(LEAVES);
        truss[edge] = int(limit + 2);
    };
    // End a step: return how many edges it has appended.
    const auto found = [&] {
        meet_grid(&peeling->arrived);
        const i64 more = fresh(peeling->sets[set]);
        set = (set + 1) % SETS;
        left -= more;
        return more;
    };

    for (u32 round = 0;; round = (round + 1) % SETS) {
        while (count && left >= fewest) {
            if (thread_index() == 0) peeling->sets[(set + 1) % SETS] = 0;
            const Leaving<I, E> leaving{offsets, ends, edges, late, early, support, list + begin, count};
            E* fallen = list + begin + count;
            leaving.take_triangles(limit, fallen, peeling->sets + set);
            const i64 more = found();
            for (i64 i = i64(thread_index()); i < count; i += i64(thread_count()))
                support[__ldcg(list + begin + i)] = I(REMOVED);
            for (i64 i = i64(thread_index()); i < more; i += i64(thread_count())) leave(__ldcg(fallen + i));
            meet_grid(&peeling->arrived);  // all edges have their new state before the next step reads it
            begin += count;
            count = more;
        }
        if (left < fewest) break;

        i64 least = NEVER;
        for (u64 i = thread_index(); i < size; i += thread_count()) {
            const i64 triangles = __ldcg(support + remaining[i]);
            if (triangles >= 0) least = min(least, triangles);
        }
        least = gang_least(least, peeling->least + round, &peeling->arrived);
        if (least > most) break;
        limit = max(limit, least);

        if (thread_index() == 0) {
            peeling->least[(round + 1) % SETS] = NEVER;
            peeling->sets[(set + 1) % SETS] = 0;
        }
        for (u64 i = thread_index(); i < whole; i += thread_count()) {
            const E edge = i < size ? remaining[i] : E(0);
            const i64 triangles = i < size ? i64(__ldcg(support + edge)) : LEAVES;
            const bool few = triangles >= 0 && triangles <= limit;
            const i64 place = place_for(few, peeling->sets + set);
            if (few) {
                list[begin + place] = edge;
                leave(edge);
            }
        }
        count = found();
    }
    if (thread_index() == 0) {
        peeling->begin = begin;
        peeling->count = count;
        peeling->limit = limit;
        peeling->left = left;
    }
}

// Each warp takes a pair of rows, and looks up the ends of one row in the other.
template <typename I>
__global__ void common(const i64* offsets, const I* ends, const i64* own_offsets, const I* own_ends, const i64* weights,
                       const i64* own_weights, const i64* row, const i64* own_row, u64 pairs, i64* found)
{
    for (u64 pair = warp_index(); pair < pairs; pair += warp_count()) {
        const i64 first = own_offsets[own_row[pair]], stop = offsets[row[pair] + 1];
        const u64 size = u64(own_offsets[own_row[pair] + 1] - first);
        i64 total = 0;
        for (i64 at = offsets[row[pair]] + lane(); at < stop; at += 32) {
            const u64 place = sought(own_ends + first, size, ends[at]);
            if (place == size) continue;
            const i64 weight = own_weights ? own_weights[first + i64(place)] : 1;
            total += weights ? min(weight, weights[at]) : weight;
        }
        __syncwarp();
        total = warp_sum(total);
        if (lane() == 0) found[pair] = total;
    }
}
