// Totals that the kernels of an iteration add up; scores/__init__.py describes them, and the units of sums.
#pragma once

constexpr u32 SLOTS = 7;

struct Totals {
    i64 sum, high, middle, low, change_high, change_low;
    u64 largest;  // the bits of a float of at least 0, so that they compare as numbers do
};
static_assert(sizeof(Totals) == SLOTS * 8, "as in fixed_point.py");

// Add the block's values to totals, with one atomic per total. All threads of the block call it.
template <int N>
__device__ __forceinline__ void add_block(i64* const (&totals)[N], const i64 (&values)[N])
{
    __shared__ i64 shares[N][THREADS / 32];
#pragma unroll
    for (int i = 0; i < N; ++i) {
        const i64 sum = warp_sum(values[i]);
        if (lane() == 0) shares[i][threadIdx.x / 32] = sum;
    }
    __syncthreads();
    if (threadIdx.x >= 32) return;
#pragma unroll
    for (int i = 0; i < N; ++i) {
        const i64 sum = warp_sum(lane() < THREADS / 32 ? shares[i][lane()] : 0);
        if (lane() == 0 && sum) add_to(totals[i], sum);
    }
}

// Add the two parts of a value, whole multiples of two units. It is divided, because the inverse of a very small unit is
// infinite.
__device__ __forceinline__ void add_parts(double value, double coarse, double fine, i64& high, i64& low)
{
    const double part = floor(__ddiv_rn(value, coarse));
    high += i64(part);
    low += i64(__ddiv_rn(__dsub_rn(value, __dmul_rn(part, coarse)), fine));
}

// Add the whole multiples of a unit in a value, and return the rest. Units are powers of 2, so a product with their
// inverse is exact.
__device__ __forceinline__ double add_part(double value, double unit, double per_unit, i64& sum)
{
    const double part = floor(__dmul_rn(value, per_unit));
    sum += i64(part);
    return __dsub_rn(value, __dmul_rn(part, unit));
}
