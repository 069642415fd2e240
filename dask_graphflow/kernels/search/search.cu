// Breadth-first search: host.py has the twins. The predecessor of a vertex is its smallest neighbor in the level
// before it. Rows are ascending, so pull takes the first such neighbor; push takes the minimum.
//
// For shortest paths, the same search runs along only those edges that weigh nothing.
#include "common.cuh"
#include "appending.cuh"
#include "counts.cuh"
#include "edges.cuh"
#include "gang.cuh"

constexpr int UNSEEN = -1;
constexpr u32 TRIED = 4;           // neighbors that a lane reads at once
constexpr i64 BY_LANE = 32;        // most edges of a row that a lane reads
constexpr i64 BY_WARP = 2048;      // most further edges that a warp reads; a block reads the rest

// Return whether an edge counts: without weights always, and with weights if its ends have the same distance and its
// weight does not change it.
template <typename W>
__device__ __forceinline__ bool allowed(const double* distance, const W* weights, u64 near, i64 edge, u64 far)
{
    const double here = distance[near];
    return here == distance[far] && __dadd_rn(here, double(weights[edge])) == here;
}

__device__ __forceinline__ bool allowed(const double*, const None*, u64, i64, u64) { return true; }

// A row that a warp has not finished, and its next edge.
struct Rest {
    u64 row;
    i64 edge;
};

// Find the first neighbor in the frontier for every vertex that was not seen. Each lane reads the row of one of 32
// vertices, then the warp reads the rest of each long row. The first row's vertex is a multiple of 64. The report gets
// the number of rows that are left to bfs_pull_rest(), and the vertices that were found and their edges.
template <typename I>
__global__ void bfs_pull(const i64* offsets, const I* ends, u64 rows, u64 first, const u32* frontier, u32* following,
                     u32* seen, I* predecessor, int* level, int depth, Degrees degrees, Rest* rests, u64* report)
{
    Leaving leaving;
    for (u64 base = warp_index() * 32; base < rows; base += warp_count() * 32) {
        const u64 row = base + lane(), vertex = first + row;
        const bool waiting = row < rows && !(seen[(first + base) / 32] >> lane() & 1);
        i64 edge = 0, end = 0, hit = -1;
        if (waiting) {
            edge = offsets[row];
            end = offsets[row + 1];
        }
        const i64 stop = min(end, edge + BY_LANE);
        for (; __any_sync(ALL_LANES, hit < 0 && edge < stop); edge += TRIED) {
            if (hit >= 0 || edge >= stop) continue;
            I near[TRIED];
            bool inside[TRIED];
#pragma unroll
            for (u32 i = 0; i < TRIED; ++i) near[i] = edge + i < stop ? ends[edge + i] : I(-1);
#pragma unroll
            for (u32 i = 0; i < TRIED; ++i) inside[i] = near[i] >= 0 && has(frontier, u64(near[i]));
#pragma unroll
            for (int i = TRIED - 1; i >= 0; --i)
                if (inside[i]) hit = i64(near[i]);
        }
        u32 longer = __ballot_sync(ALL_LANES, hit < 0 && stop < end);
        for (; longer; longer &= longer - 1) {
            const u32 from = __ffs(longer) - 1;
            const i64 whole = __shfl_sync(ALL_LANES, end, from);
            i64 e = __shfl_sync(ALL_LANES, stop, from);
            const i64 last = min(whole, e + BY_WARP);
            u32 hits = 0;
            I near = 0;
            for (; e < last && !hits; e += 32) {
                if (e + lane() < last) near = ends[e + lane()];
                hits = __ballot_sync(ALL_LANES, e + lane() < last && has(frontier, u64(near)));
            }
            if (hits) near = __shfl_sync(ALL_LANES, near, __ffs(hits) - 1);
            if (hits && lane() == from) hit = i64(near);
            if (!hits && last < whole && lane() == 0) rests[atomicAdd(report + TAIL, 1ull)] = Rest{base + from, last};
        }
        if (hit >= 0) {
            predecessor[vertex] = I(hit);
            level[vertex] = depth;
            leaving.add(degrees, true, vertex);
        }
        const u32 hits = __ballot_sync(ALL_LANES, hit >= 0);
        if (hits && lane() == 0) {
            following[(first + base) / 32] |= hits;
            seen[(first + base) / 32] |= hits;
        }
    }
    leaving.report(report);
}

// Continue with the long rows that bfs_pull() did not finish, one block per row.
template <typename I>
__global__ void bfs_pull_rest(const i64* offsets, const I* ends, u64 first, const u32* frontier, u32* following, u32* seen,
                          I* predecessor, int* level, int depth, Degrees degrees, const Rest* rests, u64* report)
{
    __shared__ u32 nearest;
    for (u64 item = blockIdx.x; item < report[TAIL]; item += gridDim.x) {
        const u64 row = rests[item].row, vertex = first + row;
        const i64 end = offsets[row + 1];
        for (i64 edge = rests[item].edge; edge < end; edge += blockDim.x) {
            const i64 mine = edge + threadIdx.x;
            const bool hit = mine < end && has(frontier, u64(ends[mine]));
            if (threadIdx.x == 0) nearest = blockDim.x;
            if (!__syncthreads_or(hit)) continue;
            if (hit) atomicMin(&nearest, threadIdx.x);
            __syncthreads();
            if (threadIdx.x == nearest) {
                predecessor[vertex] = ends[mine];
                level[vertex] = depth;
                atomicOr(following + vertex / 32, 1u << (vertex % 32));
                atomicOr(seen + vertex / 32, 1u << (vertex % 32));
                atomicAdd(report + OWNED, 1ull);
                atomicAdd(report + LEAVING, u64(degrees.of[vertex]));
            }
            break;
        }
        __syncthreads();
    }
}

// A search of all members.
template <typename I>
struct Searching {
    const i64* offsets;
    const I* ends;                // numbers of all members' vertices
    Columns<I> lists;             // the vertices that were reached, in this order
    Columns<I> predecessors;      // numbers
    Columns<int> levels;
    Columns<const i64> degrees;   // only those of other members are read
};

// Offer a vertex, by its position, as the predecessor of the other end of an edge. The other end is listed by its owner
// if it had no predecessor. All lanes of a warp call this together.
template <typename I, typename W>
__device__ __forceinline__ void reach(const double* distance, const W* weights, const Meeting& meeting,
                                      const Searching<I>& search, bool valid, u64 near, i64 edge, int depth,
                                      Telling& telling, Measured& measured)
{
    const Gang& gang = meeting.gang;
    bool reached = false;
    I far = 0;
    u32 owner = 0;
    i64 size = 0;
    if (valid) {
        far = search.ends[edge];
        owner = gang.locate(far);
        int* level = search.levels.of[owner] + far;
        I* predecessor = search.predecessors.of[owner] + far;
        const I number = I(near) + I(gang.bounds[gang.rank]);
        const int there = fresh(*level);
        if ((there == UNSEEN || there == depth) && fresh(*predecessor) > number &&
            allowed(distance, weights, near, edge, u64(far)))
            reached = (gang.size > 1 ? atomicMin_system(predecessor, number) : atomicMin(predecessor, number)) == never<I>();
        if (reached) {
            *level = depth;
            size = owner == gang.rank ? search.offsets[u64(far) + 1] - search.offsets[u64(far)]
                                      : search.degrees.of[owner][far];
        }
    }
    measured.add(reached, size);
    give(meeting, search.lists, telling, reached, owner, far);
}

// Offer the vertices of a list as predecessors to their neighbors that were not seen. List the neighbors that had no
// predecessor. `costs` is the running sum of the list's degrees.
template <typename I, typename W>
__global__ void __launch_bounds__(THREADS)
    bfs_push(const double* distance, const W* weights, const i64* offsets, const I* ends, i64 first, const I* frontier,
             const i64* costs, u64 count, const u32* seen, I* predecessor, int* level, int depth, I* list, i64* found)
{
    __shared__ I queues[THREADS / 32][QUEUED];
    Appending<I> appending{queues[threadIdx.x / 32], list, found};
    visit_edges(costs, count, [&](const Span& span) {
        u64 vertex = 0;
        i64 ahead = 0;
        if (span.row < count) {
            vertex = u64(frontier[span.row]);
            ahead = offsets[i64(vertex) - first] - costs[span.row];
        }
        visit_span(span, vertex, ahead, [&](bool valid, u64 near, i64 edge) {
            bool reached = false;
            I far = 0;
            if (valid) {
                far = ends[edge];
                if (!has(seen, u64(far)) && __ldcg(predecessor + far) > I(near) &&
                    allowed(distance, weights, near, edge, u64(far)))
                    reached = atomicMin(predecessor + far, I(near)) == never<I>();
                if (reached) level[far] = depth;
            }
            appending.add(reached, far);
        });
    });
    appending.flush();
}

// Push one level to the vertices of all members. `sent` counts them, and their edges.
template <typename I>
__global__ void __launch_bounds__(THREADS)
    bfs_push_to_all(const __grid_constant__ Gang gang, const __grid_constant__ Searching<I> search, const I* frontier,
                    const i64* costs, u64 count, int depth, Telling* sent)
{
    if (gave_up(gang)) return;  // the others' lists may not be ready
    const Meeting meeting{gang, nullptr};
    const None* none = nullptr;
    Measured measured;
    visit_edges(costs, count, [&](const Span& span) {
        u64 vertex = 0;
        i64 ahead = 0;
        if (span.row < count) {
            vertex = u64(frontier[span.row]);
            ahead = search.offsets[vertex] - costs[span.row];
        }
        visit_span(span, vertex, ahead, [&](bool valid, u64 near, i64 edge) {
            reach(nullptr, none, meeting, search, valid, near, edge, depth, *sent, measured);
        });
    });
    measured.tell(*sent);
}

// The state of a search that continues by itself while levels are small. A launch stops before a level that has more
// than `most_edges` edges, or a row longer than `longest`. After its first level it stops before one whose edges times
// `dense` are more than `left`.
struct Going {
    Meetings meetings;        // and where the vertices of the next level are in this member's list
    i64 depth, steps;         // number of levels so far in the search, and in this launch
    i64 most_steps;           // most levels of a launch
    i64 most_edges, longest;
    i64 dense, left;
    i64 shrinking;            // whether the edges of each level are subtracted from `left`
};

// Push level after level. Every vertex that is found is appended to its owner's list, so the end of the lists is the next
// level. `levels` tell whether a vertex is in the current level. A bitmap would have to be updated between levels.
// `trace` gets the number of vertices and edges of each level.
template <typename I, typename W>
__global__ void __launch_bounds__(GANG)
    bfs_run(const double* distance, const W* weights, const __grid_constant__ Gang gang,
            const __grid_constant__ Searching<I> search, Going* going, i64* trace)
{
    __shared__ Telling own[SETS];
    Meeting meeting{gang, &going->meetings};
    meeting.prepare(own);
    const I* list = search.lists.of[gang.rank];
    i64 begin = going->meetings.begin, depth = going->depth, left = going->left, steps = 0;
    const i64 most_steps = going->most_steps, most_edges = going->most_edges, longest = going->longest;
    const i64 dense = going->dense, given = i64(going->meetings.telling[0].sent[gang.rank]);
    const bool shrinking = going->shrinking;
    meeting.begin(begin);
    Told next = meeting.take(false, [&](Telling& telling) {
        Measured measured;
        for (i64 i = i64(thread_index()); i < given; i += i64(thread_count())) {
            const u64 vertex = u64(list[begin + i]);
            measured.add(true, search.offsets[vertex + 1] - search.offsets[vertex]);
        }
        measured.tell(telling);
    });

    // The first level is pushed however many edges are left, since the host has chosen to push it.
    const auto stops = [&] {
        const bool large = next.edges > most_edges || next.largest > longest;
        return !next.everywhere || steps == most_steps || large || (steps && next.edges * dense > left) || meeting.failed;
    };
    const auto step = [&](bool alone) {
        if (threadIdx.x == 0 && blockIdx.x == 0) {
            trace[2 * steps] = next.everywhere;
            trace[2 * steps + 1] = next.edges;
        }
        if (shrinking) left -= next.edges;
        ++depth;
        next = meeting.take(alone, [&](Telling& telling) {
            Measured measured;
            visit_rows(
                search.offsets, search.offsets + 1, meeting.end - begin, alone,
                [&](i64 i) { return u64(__ldcg(list + begin + i)); },
                [&](bool valid, u64 near, i64 edge) {
                    reach(distance, weights, meeting, search, valid, near, edge, int(depth), telling, measured);
                });
            measured.tell(telling);
            begin = meeting.end;
        });
        ++steps;
    };
    const auto save = [&] {
        meeting.save(begin, next);
        going->depth = depth;
        going->steps = steps;
        going->left = left;
    };
    const auto load = [&] {
        meeting.load(begin, next);
        depth = fresh(going->depth);
        steps = fresh(going->steps);
        left = fresh(going->left);
    };
    take_steps(next.everywhere, &going->meetings.blocks, stops, step, save, load);
    meet_grid(&going->meetings.blocks);  // no block reads any more when the state is written
    if (threadIdx.x == 0 && blockIdx.x == 0) save();
}

// The following kernels are for a search over the members of a gang. The positions of a member's own vertices begin at
// 0, and those of its mirrors at `owned`.

// Split the vertices that a push found into own vertices and mirrors. `counts`: found vertices, own vertices, mirrors,
// edges of own vertices.
template <typename I>
__global__ void part_found(const I* found, u64* counts, u64 owned, I low, const i64* offsets, u32* seen, I* predecessor,
                           I* own, I* mirrors)
{
    const u64 count = counts[0], end = (count + 31) / 32 * 32;
    for (u64 i = thread_index(); i < end; i += thread_count()) {
        const bool valid = i < count;
        const I vertex = valid ? found[i] : I(0);
        const bool mine = valid && u64(vertex) < owned;
        if (valid) {
            predecessor[vertex] += low;  // turn a position into a number
            atomicOr(seen + u64(vertex) / 32, 1u << (u64(vertex) % 32));
        }
        append(own, counts + 1, mine, vertex);
        append(mirrors, counts + 2, valid && !mine, vertex);
        const u64 edges = warp_sum(mine ? offsets[u64(vertex) + 1] - offsets[vertex] : i64(0));
        if (lane() == 0 && edges) atomicAdd(counts + 3, edges);
    }
}

// Apply the predecessors that another member offers to vertices. Each vertex occurs at most once. `counts`: new
// vertices, their edges.
template <typename I>
__global__ void take_offers(const I* vertices, const I* offers, u64 count, int depth, const i64* offsets, u32* seen,
                            I* predecessor, int* level, I* list, u64* counts)
{
    const u64 end = (count + 31) / 32 * 32;
    for (u64 i = thread_index(); i < end; i += thread_count()) {
        bool fresh = false;
        I vertex = 0;
        if (i < count) {
            vertex = vertices[i];
            fresh = level[vertex] < 0;
            if (fresh) {
                level[vertex] = depth;
                atomicOr(seen + u64(vertex) / 32, 1u << (u64(vertex) % 32));
            }
            if (level[vertex] == depth) predecessor[vertex] = min(predecessor[vertex], offers[i]);
        }
        append(list, counts, fresh, vertex);
        const u64 edges = warp_sum(fresh ? offsets[u64(vertex) + 1] - offsets[vertex] : i64(0));
        if (lane() == 0 && edges) atomicAdd(counts + 1, edges);
    }
}
