// Expressions per vertex: assign their values to columns, or reduce them over the vertices of a member.
// host.py has the twins. Expressions follow this text, as a struct `Values` that programs/cuda.py generates.
#include "common.cuh"
#include "edge_op.cuh"
#include "edges.cuh"
#include "totals.cuh"

// What a launch found. The host clears it first.
struct Reduced {
    i64 counted, high, low;
    u64 largest;
};

// Return a number whose order among all u64 is that of a value. A NaN is the largest.
__device__ __forceinline__ u64 order_of(u64 value) { return value; }
__device__ __forceinline__ u64 order_of(i64 value) { return u64(value) ^ 1ull << 63; }
__device__ __forceinline__ u64 order_of(int value) { return order_of(i64(value)); }
__device__ __forceinline__ u64 order_of(double value)
{
    if (value != value) return ~0ull;
    const u64 bits = u64(__double_as_longlong(value));
    return bits >> 63 ? ~bits : bits | 1ull << 63;
}
__device__ __forceinline__ u64 order_of(float value) { return order_of(double(value)); }

__device__ __forceinline__ void keep_largest(u64 order, Reduced* found)
{
    order = warp_max(order);
    if (lane() == 0 && order > found->largest) atomicMax(&found->largest, order);
}

// Each vertex reads only its own entries, so no thread reads what another one writes.
template <typename Values>
__global__ void __launch_bounds__(THREADS) assign_values(Values values)
{
    for (u64 v = thread_index(); v < values.count; v += thread_count()) values.assign(v);
}

// Find the largest magnitude of finite values, and count those that are infinite or NaN.
template <typename Values>
__global__ void __launch_bounds__(THREADS)
    largest_magnitude(Values values, const bool* exists, Reduced* found)
{
    i64 wrong = 0;
    double largest = 0;
    for (u64 v = thread_index(); v < values.count; v += thread_count()) {
        if (!exists[v]) continue;
        const double magnitude = fabs(values.value(v));
        if (magnitude < edge::infinity())
            largest = fmax(largest, magnitude);
        else
            ++wrong;
    }
    keep_largest(u64(__double_as_longlong(largest)), found);
    add_block<1>({&found->counted}, {wrong});
}

// Add up values times 2^-exponent in two parts; fixed_point.py describes them.
template <typename Values>
__global__ void __launch_bounds__(THREADS) sum_floats(Values values, const bool* exists, int exponent,
                                                      double coarse, double fine, Reduced* found)
{
    i64 high = 0, low = 0;
    for (u64 v = thread_index(); v < values.count; v += thread_count()) {
        if (!exists[v]) continue;
        add_parts(ldexp(values.value(v), -exponent), coarse, fine, high, low);
    }
    add_block<2>({&found->high, &found->low}, {high, low});
}

// Overflow wraps.
template <typename Values>
__global__ void __launch_bounds__(THREADS)
    sum_integers(Values values, const bool* exists, Reduced* found)
{
    u64 sum = 0;
    for (u64 v = thread_index(); v < values.count; v += thread_count())
        if (exists[v]) sum += u64(values.value(v));
    add_block<1>({&found->low}, {i64(sum)});
}

template <typename Values>
__global__ void __launch_bounds__(THREADS)
    largest_value(Values values, const bool* exists, Reduced* found)
{
    i64 counted = 0;
    u64 largest = 0;
    for (u64 v = thread_index(); v < values.count; v += thread_count()) {
        if (!exists[v]) continue;
        ++counted;
        largest = max(largest, order_of(values.value(v)));
    }
    keep_largest(largest, found);
    add_block<1>({&found->counted}, {counted});
}
