// PageRank: host.py has the twins, which give the same bits. Contributions are added up as integers, so that their
// order does not matter. Floats are computed with intrinsics, which keep the compiler from using fused operations. A
// fused operation rounds once, while the host rounds twice.
#include "common.cuh"
#include "edges.cuh"
#include "gang.cuh"
#include "totals.cuh"

constexpr double ONE = 4611686018427387904.0;     // 2**62
constexpr double CHANGE = 1152921504606846976.0;  // 2**60
constexpr double PER_ONE = 1 / ONE;               // a product with it is exact, and faster than a division
constexpr int WHOLE_BITS = 62;                    // bits of a sum of weights as a whole number
constexpr int BATCH = 4;                          // reads in flight at once
constexpr int SHORT = 64;                         // most edges of a row that a lane adds up by itself

// Return the contribution of an edge, as a float. Only its integer part counts.
template <typename W, typename F>
__device__ __forceinline__ auto term(const W* weights, F contribution, i64 edge)
{
    return __dmul_rn(double(contribution), double(__ldcs(weights + edge)));
}
template <typename F>
__device__ __forceinline__ F term(const None*, F contribution, i64)
{
    return contribution;
}

// Return where edge k of a batch is staged. The padding keeps rows of equal length from beginning in the same bank.
__device__ __forceinline__ int staged_at(int k) { return k + k / 32; }

// Sum the contributions of the ends of each row, and of all rows. `sums` and `now` must be 0 initially, because a row in
// several tiles is added to it several times. The totals of the next iteration are cleared. Edges are read in order, one batch at a time. If all rows of a batch are short, each lane adds up
// the edges of its row from shared memory. Otherwise the warp computes running sums of 32 edges at a time, and the sum
// of a row is the difference of two of them.
template <typename I, typename F, typename W>
__global__ void __launch_bounds__(THREADS)
    sum_contributions(const i64* offsets, const I* ends, const W* weights, u64 rows, const F* __restrict__ contribution,
                      i64* sums, Totals* now, i64* next)
{
    if (thread_index() < SLOTS) next[thread_index()] = 0;
    i64 every = 0;
    using Value = decltype(term(weights, F(0), i64(0)));
    __shared__ Value staging[THREADS / 32][32 * BATCH + BATCH];
    Value* staged = staging[threadIdx.x / 32];
    visit_edges(offsets, rows, [&](const Span& span) {
        i64 sum = 0;
        for (i64 base = span.first; base < span.last; base += 32 * BATCH) {
            I far[BATCH];
            Value value[BATCH];
#pragma unroll
            for (int i = 0; i < BATCH; ++i) {
                const i64 edge = base + i * 32 + lane();
                far[i] = edge < span.last ? __ldcs(ends + edge) : I(-1);
            }
#pragma unroll
            for (int i = 0; i < BATCH; ++i)
                value[i] = far[i] >= 0 ? term(weights, contribution[far[i]], base + i * 32 + lane()) : Value(0);
            const u32 whole = __ballot_sync(ALL_LANES, span.begin <= base && span.end >= base + 32 * BATCH);
            if (whole) {  // all edges of the batch are in one row
                i64 total = 0;
#pragma unroll
                for (int i = 0; i < BATCH; ++i) total += i64(value[i]);
                total = warp_sum(total);
                if (whole >> lane() & 1) sum += total;
                continue;
            }
            const int mine = int(min(max(span.begin - base, i64(0)), i64(32 * BATCH)));
            const int stop = int(min(max(span.end - base, i64(0)), i64(32 * BATCH)));
            if (warp_max(stop - mine) <= SHORT) {
#pragma unroll
                for (int i = 0; i < BATCH; ++i) staged[staged_at(i * 32 + lane())] = value[i];
                __syncwarp();
                for (int k = mine; k < stop; ++k) sum += i64(staged[staged_at(k)]);
                __syncwarp();
                continue;
            }
#pragma unroll
            for (int i = 0; i < BATCH; ++i) {
                const i64 before = running_sum(i64(value[i]));
                const i64 at = base + i * 32;
                const int from = int(min(max(span.begin - at, i64(0)), i64(32)));
                const int to = int(min(max(span.end - at, i64(0)), i64(32)));
                const i64 low = __shfl_sync(ALL_LANES, before, (from + 31) % 32);
                const i64 high = __shfl_sync(ALL_LANES, before, (to + 31) % 32);
                if (from < to) sum += high - (from ? low : 0);
            }
        }
        if (span.begin >= span.end) return;
        every += sum;
        if (span.whole)
            sums[span.row] = sum;
        else
            add_to(sums + span.row, sum);
    });
    add_block<1>({&now->sum}, {every});
}

// Sum the weights of each row, one warp per row. A weight counts as a whole multiple of a unit that depends on the row's
// largest weight, and the rest as one of a finer unit. So a sum has the same bits in every order, and as on the host.
template <typename W>
__global__ void __launch_bounds__(THREADS) row_totals(const i64* offsets, const W* weights, u64 rows, double* totals)
{
    for (u64 row = thread_index() / 32; row < rows; row += thread_count() / 32) {
        const i64 start = offsets[row], stop = offsets[row + 1];
        double largest = 0;
        for (i64 edge = start + lane(); edge < stop; edge += 32) largest = fmax(largest, double(weights[edge]));
        largest = warp_max(largest);
        const int bits = WHOLE_BITS - exponent_of(double(stop - start)), power = bits - exponent_of(largest);
        // In two steps, because the power of 2 itself can be out of range. A shift rounds down, as // does on the host.
        const double half = ldexp(1.0, power >> 1), rest = ldexp(1.0, power - (power >> 1)), fine = ldexp(1.0, bits);
        i64 high = 0, low = 0;
        for (i64 edge = start + lane(); edge < stop; edge += 32) {
            const double value = __dmul_rn(__dmul_rn(double(weights[edge]), half), rest);
            const i64 whole = i64(value);
            high += whole;
            low += i64(__dmul_rn(__dsub_rn(value, double(whole)), fine));
        }
        high = warp_sum(high);
        low = warp_sum(low);
        if (lane() == 0) totals[row] = ldexp(__dadd_rn(double(high), __ddiv_rn(double(low), fine)), -power);
    }
}

__device__ __forceinline__ float times(float a, float b) { return __fmul_rn(a, b); }
__device__ __forceinline__ double times(double a, double b) { return __dmul_rn(a, b); }
__device__ __forceinline__ float distance_of(float a, float b) { return fabsf(__fsub_rn(a, b)); }
__device__ __forceinline__ double distance_of(double a, double b) { return fabs(__dsub_rn(a, b)); }

// Count shares that do not fit in `sum`, and vertices that no edge leaves in `high`.
template <typename T, typename F>
__global__ void __launch_bounds__(THREADS) shares(const T* total, u64 count, double least, F* share_out, Totals* counts)
{
    i64 unfit = 0, sinks = 0;
    for (u64 v = thread_index(); v < count; v += thread_count()) {
        F share = total[v] == T(0) ? F(0) : F(__ddiv_rn(ONE, double(total[v])));
        if (total[v] == T(0)) {
            ++sinks;
        } else if (!(double(share) >= least && isfinite(share))) {
            ++unfit;
            share = F(nan(""));
        }
        share_out[v] = share;
    }
    add_block<2>({&counts->sum, &counts->high}, {unfit, sinks});
}

// What apply_sums() and apply_batch() read of a vertex.
template <typename F>
struct Before {
    i64 sum;
    F rank, share;
    double base;
};

// The totals are the sum of the changes of ranks, and the sum of the ranks of vertices that no edge leaves. `before` is
// null if `dangling` is the latter of the iteration before. The sums are left at 0 for the next iteration. Contributions
// are also written to the columns of other members, after which there is a null pointer in `others`.
template <typename F>
__global__ void __launch_bounds__(THREADS)
    apply_sums(i64* __restrict__ sums, F* __restrict__ rank, const F* __restrict__ share_out,
               F* __restrict__ contribution, u64 count, const double* __restrict__ restart, bool everywhere,
               const double* __restrict__ onward, double damping, double dangling, const Totals* before, Totals* totals,
               const __grid_constant__ Columns<F> others)
{
    if (before) dangling = __ddiv_rn(double(before->change_low), CHANGE);
    double restarts = __dsub_rn(1, damping);
    const double onwards = __dmul_rn(damping, dangling);
    if (!onward) restarts = __dadd_rn(restarts, onwards);
    i64 change = 0, sinks = 0;
    const auto load = [&](u64 v) {
        double base = __dmul_rn(restart[everywhere ? 0 : v], restarts);
        if (onward) base = __dadd_rn(base, __dmul_rn(onward[v], onwards));
        return Before<F>{sums[v], rank[v], share_out[v], base};
    };
    in_batches<2>(count, load, [&](u64 v, const Before<F>& at) {
        const F now = F(__dadd_rn(at.base, __dmul_rn(damping, __dmul_rn(double(at.sum), PER_ONE))));
        sums[v] = 0;
        rank[v] = now;
        change += i64(__dmul_rn(double(distance_of(now, at.rank)), CHANGE));
        if (at.share == F(0)) sinks += i64(__dmul_rn(double(now), CHANGE));
        const F told = times(now, at.share);
        contribution[v] = told;
        for (u32 q = 0; others.of[q]; ++q) others.of[q][v] = told;
    });
    add_block<2>({&totals->change_high, &totals->change_low}, {change, sinks});
}

// Several columns at once: the values of a vertex are stored side by side, at most WIDTH of them. A lane sums one
// column over every second edge of a row. Then the sums of the two halves of a warp are added.
constexpr u32 WIDTH = 16;

template <typename I, typename W>
__global__ void __launch_bounds__(THREADS)
    sum_batch(const i64* offsets, const I* ends, const W* weights, u64 rows, const double* __restrict__ told, u32 width,
              i64* sums)
{
    const i64 edges = offsets[rows], tile = tile_size(edges);
    const u32 column = lane() % WIDTH, half = lane() / WIDTH;
    const bool used = column < width;
    for (i64 first = i64(warp_index()) * tile; first < edges; first += i64(warp_count()) * tile) {
        const i64 stop = min(first + tile, edges);
        u64 row = row_of(offsets, rows, first);
        for (i64 edge = first; edge < stop; ++row) {
            const i64 end = min(offsets[row + 1], stop);
            if (end <= edge) {  // a row without edges, maybe followed by many more
                row = row_of(offsets, rows, edge) - 1;
                continue;
            }
            i64 sum = 0;
#pragma unroll 4
            for (i64 k = edge + half; k < end; k += 2)
                if (used) sum += i64(term(weights, told[u64(ends[k]) * width + column], k));
            sum += __shfl_xor_sync(ALL_LANES, sum, WIDTH);
            if (used && half == 0) {
                i64* into = sums + row * width + column;
                if (edge == offsets[row] && end == offsets[row + 1])
                    *into = sum;
                else
                    add_to(into, sum);
            }
            edge = end;
        }
    }
}

__global__ void apply_batch(i64* __restrict__ sums, double* __restrict__ rank, const double* __restrict__ share_out,
                            double* __restrict__ told, u64 count, u32 width, const i64* at, const double* base,
                            double damping, i64* totals)
{
    const u32 column = u32(thread_index() % WIDTH);
    i64 change = 0, dangling = 0;
    if (column < width) {
        const i64 restart = at[column];
        const auto load = [&](u64 v) {
            const u64 place = v * width + column;
            return Before<double>{sums[place], rank[place], share_out[v], i64(v) == restart ? base[column] : 0};
        };
        in_batches<2>(thread_index() / WIDTH, count, thread_count() / WIDTH, load, [&](u64 v, const Before<double>& from) {
            const u64 place = v * width + column;
            double now = __dmul_rn(damping, __dmul_rn(double(from.sum), PER_ONE));
            if (i64(v) == restart) now = __dadd_rn(from.base, now);
            sums[place] = 0;
            rank[place] = now;
            change += i64(__dmul_rn(distance_of(now, from.rank), CHANGE));
            if (from.share == 0) dangling += i64(__dmul_rn(now, CHANGE));
            told[place] = times(now, from.share);
        });
    }
    change += __shfl_xor_sync(ALL_LANES, change, WIDTH);
    dangling += __shfl_xor_sync(ALL_LANES, dangling, WIDTH);
    if (column < width && lane() < WIDTH) {
        add_to(totals + column, change);
        add_to(totals + width + column, dangling);
    }
}
