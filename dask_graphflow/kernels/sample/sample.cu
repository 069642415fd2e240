// Random choices of edges: host.py has the twin, which gives the same bits. One thread does all steps of a walk.
#include "common.cuh"
#include "edges.cuh"

constexpr int BITS = 52;              // bits of the sum of a row's weights as an integer
constexpr int STEP = 24, ATTEMPT = 2; // positions of the step and of the attempt in a counter, in bits
constexpr i64 OPEN = -2;              // a step that is not decided yet
constexpr i64 END = -1;               // the end of a walk

// Return a random float from 0 to below 1.
__device__ __forceinline__ double random_of(u64 key, u64 counter) { return double(hash_of(key, counter) >> 11) * 0x1p-53; }

// Without `seeds`, all ranks have the same seed.
template <typename I>
__global__ void hashes(const I* ranks, const u64* seeds, u64 seed, u64 count, u64* mixed)
{
    for (u64 i = thread_index(); i < count; i += thread_count())
        mixed[i] = hash_of(seeds ? seeds[i] : seed, u64(i64(ranks[i])) + 1);
}

// Factors for the weights of edges back to the previous vertex (`back`) and of all other edges (`others`). Then the
// probability to accept another vertex if the previous vertex has an edge to it (`near`), and if it has none (`far`).
struct Bias {
    double back, others, near, far;
};

template <typename I>
struct Graph {
    const i64* offsets;
    const I* ends;
    const i64* sums;  // running sums of the weights in each row; null: each edge weighs 1

    __device__ __forceinline__ bool connected(i64 vertex, I other) const
    {
        const i64 high = offsets[vertex + 1], at = first_of(ends, offsets[vertex], high, other);
        return at < high && ends[at] == other;
    }

    // Return the sum of the weights of a row's entries before index `at`.
    __device__ __forceinline__ i64 before(i64 low, i64 at) const
    {
        if (!sums) return at - low;
        return at > low ? sums[at - 1] : 0;
    }
};

// A step from a vertex.
template <typename I>
struct Step {
    const Graph<I>& graph;
    i64 low, high, first, last;  // the vertex's row, and the range of entries back to the previous vertex
    i64 previous;                // the previous vertex, or -1
    u64 key;

    __device__ __forceinline__ Step(const Graph<I>& graph_, i64 vertex, i64 previous_, u64 key_)
        : graph(graph_), low(graph_.offsets[vertex]), high(graph_.offsets[vertex + 1]), previous(previous_), key(key_)
    {
        first = last = low;
        if (previous < 0) return;
        first = last = first_of(graph.ends, low, high, previous);
        if (first < high && graph.ends[first] == I(previous)) last = first_of(graph.ends, first, high, previous + 1);
    }

    // Try to choose the next vertex, or END. Return whether accepting it depends on an edge of the previous vertex.
    __device__ __forceinline__ bool attempt(u64 counter, const Bias& bias, i64& end) const
    {
        const i64 total = graph.before(low, high), skipped = graph.before(low, first);
        const i64 own = graph.before(low, last) - skipped, rest = total - own;
        if (own > 0) {
            // Without fused operations, as on the host.
            const double mass = __dmul_rn(bias.back, double(own)), other = __dmul_rn(bias.others, double(rest));
            if (mass > 0 && (!rest || __dmul_rn(random_of(key, counter), __dadd_rn(mass, other)) < mass)) {
                end = previous;
                return false;
            }
        }
        if (!rest) {
            end = END;
            return false;
        }
        i64 weight = i64(__dmul_rn(random_of(key, counter + 1), double(rest)));
        if (weight >= skipped) weight += own;
        end = graph.ends[graph.sums ? first_of(graph.sums, low, high, weight + 1) : low + weight];
        if (previous < 0 || bias.near == bias.far) return false;
        return random_of(key, counter + 2) >= fmin(bias.near, bias.far);
    }
};

template <typename I>
__global__ void walk(Graph<I> graph, const I* starts, const I* before, const u64* keys, u64 count, i64 first,
                     i64 length, Bias bias, bool biased, I* found)
{
    for (u64 i = thread_index(); i < count; i += thread_count()) {
        I* own = found + i * u64(length + 1);
        i64 previous = before ? i64(before[i]) : END, at = starts[i];
        own[0] = I(at);
        for (i64 step = 1; step <= length; ++step) {
            i64 next = END;
            if (at >= 0) {
                const Step<I> here(graph, at, biased ? previous : END, keys[i]);
                u64 counter = u64(first + step) << STEP;
                while (here.attempt(counter, bias, next)) {
                    if (graph.connected(previous, I(next)) == (bias.near > bias.far)) break;
                    counter += 1ull << ATTEMPT;
                }
            }
            previous = at;
            at = next;
            own[step] = I(next);
        }
    }
}

template <typename I>
__global__ void propose(Graph<I> graph, const i64* vertices, const I* previous, const u64* keys, u64 count, i64 step,
                        Bias bias, i64* attempts, i64 slots, I* tests, I* decided)
{
    for (u64 i = thread_index(); i < count; i += thread_count()) {
        const Step<I> here(graph, vertices[i], previous[i], keys[i]);
        I* own = tests + i * u64(slots);
        i64 attempt = attempts[i], taken = OPEN, slot = 0;
        while (slot < slots && taken == OPEN) {
            i64 end;
            if (here.attempt((u64(step) << STEP) + (u64(attempt++) << ATTEMPT), bias, end))
                own[slot++] = I(end);
            else
                taken = end;
        }
        while (slot < slots) own[slot++] = I(END);
        decided[i] = I(taken);
        attempts[i] = attempt;
    }
}

template <typename I>
__global__ void connected(Graph<I> graph, const i64* vertices, const I* others, u64 count, bool* found)
{
    for (u64 i = thread_index(); i < count; i += thread_count()) found[i] = graph.connected(vertices[i], others[i]);
}

__global__ void pick_edges(const i64* offsets, const i64* vertices, const u64* keys, u64 count, i64 wanted,
                           bool replace, const i64* first, i64* edges, i64* items)
{
    for (u64 item = thread_index(); item < count; item += thread_count()) {
        const i64 low = offsets[vertices[item]], degree = offsets[vertices[item] + 1] - low;
        const i64 begin = first[item], picks = first[item + 1] - begin;
        const bool every = wanted < 0 || (!replace && degree <= wanted);
        for (i64 i = 0; i < picks; ++i) {
            i64 edge = low + i;
            if (!every) {
                // Without replacement, use Floyd's algorithm: all sets of edges are equally likely.
                const i64 newest = replace ? low + degree - 1 : low + degree - picks + i;
                edge = low + i64(__dmul_rn(random_of(keys[item], u64(i)), double(newest - low + 1)));
                for (i64 j = 0; j < i && !replace; ++j) {
                    if (edges[begin + j] == edge) {
                        edge = newest;
                        break;
                    }
                }
            }
            edges[begin + i] = edge;
            items[begin + i] = i64(item);
        }
    }
}

// Compute the running sums of the weights in each row, one warp per row.
template <typename W>
__global__ void __launch_bounds__(THREADS) cumulate(const i64* offsets, const W* weights, u64 rows, i64* sums)
{
    for (u64 row = thread_index() / 32; row < rows; row += thread_count() / 32) {
        const i64 low = offsets[row], high = offsets[row + 1];
        double most = 0;
        for (i64 edge = low + lane(); edge < high; edge += 32) most = fmax(most, double(weights[edge]));
        most = warp_max(most);
        const int shift = BITS - exponent_of(most) - exponent_of(double(high - low));
        i64 total = 0;
        for (i64 base = low; base < high; base += 32) {
            const i64 edge = base + lane();
            const i64 sum = running_sum(edge < high ? i64(rint(ldexp(double(weights[edge]), shift))) : 0);
            if (edge < high) sums[edge] = total + sum;
            total += __shfl_sync(ALL_LANES, sum, 31);
        }
    }
}
