// Weights of edges, before a search for shortest paths. host.py has the twins.
#include "common.cuh"
#include "edges.cuh"

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
