// Whole searches from several sources: levels, and what each vertex contributes to the shortest paths from a source.
// host.py has the twin, and says how numbers are stored and added up.
//
// A team of blocks takes a source. It goes from level to level, and back, in one launch, with a barrier of the team's
// blocks after each level. A graph with many small levels gets many teams of few blocks, and a graph with few large
// levels gets one team of all blocks.
#include "common.cuh"
#include "edges.cuh"
#include "gang.cuh"

constexpr int UNREACHED = -2;   // not the level before that of the source
constexpr int NUMBER_BITS = 61;
constexpr int LOWEST = -(1 << 30);  // less than any exponent
constexpr i64 SHORT = 32;           // most edges of a row that SHARES lanes read; a warp reads a longer one
constexpr i64 PIECE = 512;          // a longer row is divided into pieces of this size, one per warp

// The level of a vertex, and the exponent of its number.
struct Mark {
    int level, exponent;
};

// A piece of a long row: the pieces of a vertex are next to each other in the list of pieces.
template <typename I>
struct Piece {
    I vertex, index;
};

// The sum of a long row, at the first of its pieces.
struct Sum {
    i64 total;
    int largest;
};

// Where a level begins in the lists of vertices and of pieces.
template <typename I>
struct Begin {
    I vertices, pieces;
};

// What was found in a level: the vertices and pieces of the next one, and the largest number of bits of its own numbers.
struct Counts {
    i64 vertices, pieces, bits;
};

struct Team {
    Counts sets[SETS];
    i64 levels, reached;
    u64 arrived;
};

template <u32 N>
struct Lanes {
    static constexpr u32 count = N;
};

// Wait for all blocks of a team; see meet_grid(). A block that is alone need not leave its multiprocessor.
__device__ __forceinline__ void meet_team(u64* arrived, u32 blocks)
{
    __syncthreads();
    if (blocks == 1) return;
    if (threadIdx.x == 0) {
        __threadfence();
        const u64 ticket = atomicAdd(arrived, 1ull);
        const u64 goal = (ticket / blocks + 1) * blocks;
        while (fresh(*arrived) < goal) __nanosleep(32);
        __threadfence();
    }
    __syncthreads();
}

// Return the number of bits by which the sum of `count` numbers can grow.
__device__ __forceinline__ int spare(i64 count) { return 64 - __clzll(count); }

__device__ __forceinline__ Mark mark_of(const Mark* mark)
{
    const i64 bits = __ldcg(reinterpret_cast<const i64*>(mark));
    return {int(bits), int(bits >> 32)};
}

// Store a float as a whole number, and return its exponent.
__device__ __forceinline__ int store(double value, i64* whole)
{
    int exponent;
    const double part = frexp(value, &exponent);
    *whole = i64(__dmul_rn(part, double(1ll << NUMBER_BITS)));
    return exponent - NUMBER_BITS;
}

// A level of a search, and its edges in one direction.
template <typename I>
struct Level {
    const i64* offsets;
    const I* ends;
    Mark* marks;
    i64* whole;
    const I* list;           // the vertices of the level
    const Piece<I>* pieces;  // and the pieces of their long rows
    Sum* sums;
    i64 count, piece_count;
    u32 warp, warps;

    // Call work(Lanes, whether there is a row, its vertex, its edges) for the rows of the level that are not longer
    // than a piece. Either SHARES lanes or all lanes of a warp take a row. All lanes of a warp call this together.
    template <typename Work>
    __device__ __forceinline__ void each_row(Work work) const
    {
        constexpr u32 ITEMS = 32 / SHARES;
        for (i64 first = i64(warp) * ITEMS; first < count; first += i64(warps) * ITEMS) {
            const i64 at = first + lane() / SHARES;
            I vertex = 0;
            i64 edge = 0, end = 0;
            if (at < count) {
                vertex = __ldcg(list + at);
                edge = offsets[vertex];
                end = offsets[vertex + 1];
            }
            work(Lanes<SHARES>{}, at < count && end - edge <= SHORT, vertex, edge, end);
            u32 longer = __ballot_sync(ALL_LANES, lane() % SHARES == 0 && end - edge > SHORT && end - edge <= PIECE);
            for (; longer; longer &= longer - 1) {
                const u32 from = __ffs(longer) - 1;
                const I row = __shfl_sync(ALL_LANES, vertex, from);
                const i64 begin = __shfl_sync(ALL_LANES, edge, from);
                work(Lanes<32>{}, true, row, begin, __shfl_sync(ALL_LANES, end, from));
            }
        }
    }

    // Call work(piece, its vertex, its edges, the edges of the row, the row's sum) for the pieces of long rows.
    template <typename Work>
    __device__ __forceinline__ void each_piece(Work work) const
    {
        for (i64 at = warp; at < piece_count; at += warps) {
            const I vertex = __ldcg(&pieces[at].vertex), index = __ldcg(&pieces[at].index);
            const i64 begin = offsets[vertex], size = offsets[vertex + 1] - begin;
            if (size <= PIECE) continue;  // it is long only in the other direction
            const i64 edge = begin + index * PIECE;
            work(index, vertex, edge, max(edge, min(edge + PIECE, begin + size)), size, sums + (at - index));
        }
    }

    // Return the largest exponent among the neighbors at a level, and, if all numbers are `small`, their sum. Each group
    // of lanes reads its own edges. other(valid, neighbor, its mark) is called for all neighbors.
    template <u32 COUNT, typename Other>
    __device__ __forceinline__ Sum first_pass(bool mine, i64 edge, i64 end, int level, bool small, Other other) const
    {
        Sum found{0, LOWEST};
        for (i64 e = edge + lane() % COUNT; __any_sync(ALL_LANES, mine && e < end); e += COUNT) {
            const bool valid = mine && e < end;
            I near = 0;
            Mark mark{UNREACHED, 0};
            if (valid) {
                near = ends[e];
                mark = mark_of(marks + near);
                if (mark.level == level) {
                    found.largest = max(found.largest, mark.exponent);
                    if (small) found.total += __ldcg(whole + near) >> min(63, -mark.exponent);
                }
            }
            other(valid, near, mark);
        }
        return {small ? warp_sum<COUNT>(found.total) : 0, warp_max<COUNT>(found.largest)};
    }

    // Return the sum of the numbers of these neighbors, in units of 2**unit.
    template <u32 COUNT>
    __device__ __forceinline__ i64 total(bool mine, i64 edge, i64 end, int level, int unit) const
    {
        i64 found = 0;
        if (mine)
            for (i64 e = edge + lane() % COUNT; e < end; e += COUNT) {
                const I near = ends[e];
                const Mark mark = mark_of(marks + near);
                if (mark.level == level) found += __ldcg(whole + near) >> min(63, unit - mark.exponent);
            }
        return warp_sum<COUNT>(found);
    }

    // Call finish(vertex, sum, exponent of its unit) for each vertex of the level, with the sum over its neighbors at
    // another level. If all numbers there are `small`, so is their sum, and its unit is 1. meet() waits for the team;
    // it is called at least once.
    template <typename Meet, typename Other, typename Finish>
    __device__ __forceinline__ void add_up(int level, bool small, Meet meet, Other other, Finish finish) const
    {
        each_row([&](auto lanes, bool mine, I vertex, i64 edge, i64 end) {
            constexpr u32 COUNT = decltype(lanes)::count;
            Sum sum = first_pass<COUNT>(mine, edge, end, level, small, other);
            const int unit = small ? 0 : sum.largest + spare(end - edge);
            if (!small) sum.total = total<COUNT>(mine && sum.largest > LOWEST, edge, end, level, unit);
            if (mine && lane() % COUNT == 0) finish(vertex, sum.total, unit);
        });
        each_piece([&](I, I, i64 edge, i64 end, i64, Sum* sum) {
            const Sum part = first_pass<32>(true, edge, end, level, small, other);
            if (lane() == 0 && small) add_to(&sum->total, part.total);
            if (lane() == 0 && !small) atomicMax(&sum->largest, part.largest);
        });
        meet();
        if (!piece_count) return;
        if (!small) {
            each_piece([&](I, I, i64 edge, i64 end, i64 size, Sum* sum) {
                const int most = __ldcg(&sum->largest);
                const i64 part = total<32>(most > LOWEST, edge, end, level, most + spare(size));
                if (lane() == 0) add_to(&sum->total, part);
            });
            meet();
        }
        each_piece([&](I index, I vertex, i64, i64, i64 size, Sum* sum) {
            if (index || lane()) return;
            finish(vertex, __ldcg(&sum->total), small ? 0 : __ldcg(&sum->largest) + spare(size));
            *sum = Sum{0, LOWEST};  // for the way back
        });
        meet();
    }
};

// Search from several sources. Write the level of each vertex to its mark and, if CONTRIBUTE is set, what it contributes
// to the shortest paths from the source to `found`. Before, marks are UNREACHED, and `found` and the teams are 0. If
// `sigma` is not null, sigma * 2**power is the number of paths to each reached vertex afterwards. No row of incoming
// edges has 2**`most_spare` edges. Each team has its own arrays, one after another.
template <typename I, bool CONTRIBUTE>
__global__ void __launch_bounds__(GANG, 2)
    search(const i64* offsets, const I* ends, const i64* into_offsets, const I* into_ends, i64 vertices,
                 i64 piece_room, const i64* sources, u32 blocks, int most_spare, double endpoints, Mark* marks, i64* whole, I* list,
                 Begin<I>* begins, Piece<I>* pieces, Sum* sums, double* sigma, int* power, double* found, Team* teams)
{
    const u32 which = blockIdx.x / blocks, block = blockIdx.x % blocks;
    const bool first = block == 0 && threadIdx.x == 0;
    const u32 warp = block * (blockDim.x / 32) + threadIdx.x / 32, warps = blocks * (blockDim.x / 32);
    marks += which * vertices;
    whole += which * vertices;
    list += which * vertices;
    begins += which * (vertices + 2);
    found += which * vertices;
    if (sigma) {
        sigma += which * vertices;
        power += which * vertices;
    }
    pieces += which * piece_room;
    sums += which * piece_room;
    Team* team = teams + which;
    const auto meet = [&] { meet_team(&team->arrived, blocks); };
    const auto nothing = [](bool, I, Mark) {};

    // Append a vertex's pieces to the list of pieces, which ends at `end`, if one of its rows is long.
    const auto divide = [&](I vertex, i64 end, i64* count) {
        const i64 size = max(offsets[vertex + 1] - offsets[vertex], into_offsets[vertex + 1] - into_offsets[vertex]);
        if (size <= PIECE) return;
        const i64 needed = (size + PIECE - 1) / PIECE;
        const i64 at = end + i64(atomicAdd(reinterpret_cast<u64*>(count), u64(needed)));
        for (i64 i = 0; i < needed; ++i) pieces[at + i] = Piece<I>{vertex, I(i)};
        sums[at] = Sum{0, LOWEST};
    };

    const I source = I(sources[which]);
    if (first) {
        marks[source] = Mark{0, 1 - NUMBER_BITS};
        whole[source] = 1ll << (NUMBER_BITS - 1);
        list[0] = source;
        begins[0] = Begin<I>{0, 0};
        team->sets[0].vertices = team->sets[0].bits = 1;
        divide(source, 0, &team->sets[0].pieces);
    }
    meet();

    i64 begin = 0, piece_begin = 0;
    int depth = 0;
    u32 set = 0;
    bool small = true;
    for (;; ++depth) {
        const i64 count = fresh(team->sets[set].vertices), piece_count = fresh(team->sets[set].pieces);
        if (!count) break;
        small = small && fresh(team->sets[set].bits) + most_spare <= NUMBER_BITS;
        const i64 end = begin + count, piece_end = piece_begin + piece_count;
        if (first) {
            begins[depth + 1] = Begin<I>{I(end), I(piece_end)};
            team->sets[(set + 2) % SETS] = Counts{0, 0, 0};
        }
        set = (set + 1) % SETS;
        Counts* next = team->sets + set;
        const auto reach = [&](bool valid, I far, Mark mark) {
            int* level = &marks[far].level;
            const bool reached =
                valid && mark.level == UNREACHED && atomicCAS(level, UNREACHED, depth + 1) == UNREACHED;
            const i64 place = place_for(reached, &next->vertices);
            if (reached) {
                list[end + place] = far;
                divide(far, piece_end, &next->pieces);
            }
        };
        int bits = 0;
        const auto told = [&] {
            if (small && __any_sync(ALL_LANES, bits)) {
                bits = warp_max(bits);
                if (lane() == 0) atomicMax(&next->bits, i64(bits));
                bits = 0;
            }
            meet();
        };
        const auto finish = [&](I vertex, i64 sum, int unit) {
            if (!sum) return;  // the source
            const int exponent = unit + store(double(sum), whole + vertex);
            marks[vertex].exponent = exponent;
            bits = max(bits, exponent + NUMBER_BITS);
        };
        const Level<I> here{into_offsets, into_ends, marks, whole, list + begin, pieces + piece_begin,
                             sums + piece_begin, count, piece_count, warp, warps};
        if (CONTRIBUTE && ends == into_ends) {
            here.add_up(depth - 1, small, told, reach, finish);
        } else {
            Level<I> ahead = here;
            ahead.offsets = offsets;
            ahead.ends = ends;
            ahead.each_row([&](auto lanes, bool mine, I, i64 edge, i64 stop) {
                ahead.template first_pass<decltype(lanes)::count>(mine, edge, stop, depth + 1, false, reach);
            });
            ahead.each_piece([&](I, I, i64 edge, i64 stop, i64, Sum*) {
                ahead.template first_pass<32>(true, edge, stop, depth + 1, false, reach);
            });
            if (CONTRIBUTE)
                here.add_up(depth - 1, small, told, nothing, finish);
            else
                meet();
        }
        begin = end;
        piece_begin = piece_end;
    }

    if (first) {
        team->levels = depth;
        team->reached = begin;
    }
    for (depth = CONTRIBUTE ? depth - 1 : 0; depth > 0; --depth) {
        const i64 from = i64(__ldcg(&begins[depth].vertices)), stop = i64(__ldcg(&begins[depth + 1].vertices));
        const i64 piece_from = i64(__ldcg(&begins[depth].pieces)), piece_stop = i64(__ldcg(&begins[depth + 1].pieces));
        const Level<I> here{offsets, ends, marks, whole, list + from, pieces + piece_from, sums + piece_from,
                             stop - from, piece_stop - piece_from, warp, warps};
        here.add_up(depth + 1, false, meet, nothing, [&](I vertex, i64 sum, int unit) {
            const double paths = __dmul_rn(double(__ldcg(whole + vertex)), 1.0 / double(1ll << NUMBER_BITS));
            const int exponent = mark_of(marks + vertex).exponent + NUMBER_BITS;
            double through = 0;
            if (sum) {
                int more;
                const double part = frexp(double(sum), &more);
                through = ldexp(__dmul_rn(part, paths), more + unit + exponent);
            }
            found[vertex] = __dadd_rn(through, endpoints);
            if (sigma) {
                sigma[vertex] = paths;
                power[vertex] = exponent;
            }
            // From here on, the number of the vertex is what it tells the level before.
            marks[vertex].exponent = store(__ddiv_rn(__dadd_rn(1.0, through), paths), whole + vertex) - exponent;
        });
    }
    if (CONTRIBUTE && first) {
        found[source] = endpoints * double(begin - 1);
        if (sigma) {
            sigma[source] = 0.5;
            power[source] = 1;
        }
    }
}
