// Scores computed from sums along edges: host.py has the twins, which give the same bits. Intrinsics keep the
// compiler from fused operations, which round once where the host rounds twice.
#include "common.cuh"
#include "edges.cuh"
#include "totals.cuh"

constexpr int BITS = 61;      // bits of the largest sum along edges as a whole number
constexpr int SUM_BITS = 62;  // bits of a part of a sum over vertices as a whole number

struct Units {
    double coarse, fine;
};

__device__ __forceinline__ Units units_of(double bound, double count)
{
    const double coarse = ldexp(1.0, exponent_of(__dmul_rn(bound, count)) - SUM_BITS);
    return {coarse, ldexp(coarse, exponent_of(count) - SUM_BITS)};
}

__global__ void __launch_bounds__(THREADS) total(const double* values, u64 count, double bound, double coarse, double fine,
                                              Totals* into)
{
    i64 high = 0, low = 0, wrong = 0;
    for (u64 v = thread_index(); v < count; v += thread_count()) {
        const double value = values[v];
        if (!(value < __dmul_rn(2, bound))) {
            ++wrong;
            continue;
        }
        add_parts(value, coarse, fine, high, low);
    }
    add_block<3>({&into->sum, &into->high, &into->low}, {wrong, high, low});
}

// Sums are left at 0 for the next sum along edges.
__device__ __forceinline__ void clear(i64& sum) { sum = 0; }
__device__ __forceinline__ void clear(const double& score) {}

// What combine() and scale() read of a vertex.
struct Read {
    double value, before;
};

template <typename S>
__global__ void __launch_bounds__(THREADS) combine(S* __restrict__ sums, const double* __restrict__ before, double plus,
                                                   double factor, double* __restrict__ after, u64 count, double coarse,
                                                   double fine, Totals* totals)
{
    i64 high = 0, middle = 0, low = 0;
    double largest = 0;
    const double per_coarse = 1 / coarse, per_fine = 1 / fine, per_finest = per_fine * (per_fine * coarse);
    const auto load = [&](u64 v) { return Read{double(sums[v]), plus == 0 ? before[v] : plus}; };
    in_batches<2>(count, load, [&](u64 v, const Read& at) {
        const double now = __dadd_rn(__dmul_rn(factor, at.value), at.before);
        clear(sums[v]);
        after[v] = now;
        largest = fmax(largest, now);
        if (coarse == 0) return;
        const double rest = add_part(__dmul_rn(now, now), coarse, per_coarse, high);
        low += i64(__dmul_rn(add_part(rest, fine, per_fine, middle), per_finest));
    });
    const u64 most = warp_max(u64(__double_as_longlong(largest)));
    if (lane() == 0 && most > totals->largest) atomicMax(&totals->largest, most);
    add_block<3>({&totals->high, &totals->middle, &totals->low}, {high, middle, low});
}

// What all threads of scale() divide by, and the units of its sums.
struct Scales {
    double norm, unit;
    Units change;
};

template <typename S, typename F>
__global__ void __launch_bounds__(THREADS)
    scale(S* __restrict__ source, double* __restrict__ scores, F* __restrict__ wide, u64 count, double coarse,
          double fine, double entering, double unit, double bound, double everyone, Totals* totals)
{
    __shared__ Scales shared;
    if (threadIdx.x == 0) {
        double norm = 1;
        if (S(0.5) == S(0)) {  // whole numbers
            norm = double(totals->sum);
        } else if (coarse != 0) {
            const double rest = __dadd_rn(__dmul_rn(double(totals->middle), fine),
                                          __dmul_rn(double(totals->low), fine * (fine / coarse)));
            norm = __dsqrt_rn(__dadd_rn(__dmul_rn(double(totals->high), coarse), rest));
            if (norm == 0) norm = 1;
        }
        const double most = __ddiv_rn(__longlong_as_double(i64(totals->largest)), norm);
        if (unit == 0) unit = ldexp(1.0, exponent_of(__dmul_rn(most, entering)) - BITS);
        shared = {norm, unit, units_of(fmax(bound, most), everyone)};
    }
    __syncthreads();
    const Scales by = shared;
    const double per_unit = 1 / by.unit, per_coarse = 1 / by.change.coarse, per_fine = 1 / by.change.fine;
    i64 high = 0, low = 0;
    const auto load = [&](u64 v) { return Read{double(source[v]), scores[v]}; };
    in_batches<2>(count, load, [&](u64 v, const Read& at) {
        clear(source[v]);
        // A division of 0 takes several times as long.
        const double quotient = __ddiv_rn(at.value == 0 ? by.norm : at.value, by.norm), now = at.value == 0 ? 0 : quotient;
        const double rest = add_part(fabs(__dsub_rn(now, at.before)), by.change.coarse, per_coarse, high);
        low += i64(__dmul_rn(rest, per_fine));
        scores[v] = now;
        wide[v] = F(__dmul_rn(now, per_unit));
    });
    add_block<2>({&totals->change_high, &totals->change_low}, {high, low});
}
