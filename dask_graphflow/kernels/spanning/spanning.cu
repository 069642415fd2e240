// Minimum spanning forests: host.py has the twin. All rounds of Borůvka's method run in one launch. In each
// round, every component chooses its first leaving edge, and joins the component at the other end.
#include "common.cuh"
#include "edges.cuh"
#include "gang.cuh"

constexpr i64 NO_EDGE = 0x7fffffffffffffffll;

// Edges whose ends are in different components, in any order.
template <typename I, typename K>
struct Between {
    I* one;
    I* other;  // the components of the two ends
    K* key;
    i64* at;  // indices of the edges
};

struct Rounds {
    i64 counts[SETS];   // edges that are left
    u64 changed[SETS];  // whether a parent changed
    u32 arrived;
};

// `component` contains the parent of each vertex. A component is identified by its root, which is its own parent.
template <typename I, typename K>
__global__ void __launch_bounds__(GANG)
    join_components(I* component, u64 vertices, Between<I, K> now, Between<I, K> next, i64 count, K* least, i64* first,
                    bool* taken, Rounds* rounds)
{
    constexpr K LARGEST = ~K(0);
    const i64 thread = i64(thread_index()), threads = i64(thread_count());
    for (u64 v = thread_index(); v < vertices; v += thread_count()) {
        least[v] = LARGEST;
        first[v] = NO_EDGE;
    }
    meet_grid(&rounds->arrived);
    u32 set = 0, turn = 0;
    while (count) {
        const I* const sides[] = {now.one, now.other};
        for (i64 i = thread; i < count; i += threads) {
            const K key = __ldcg(now.key + i);
            for (const I* side : sides) {
                K* its = least + u64(__ldcg(side + i));
                if (key < __ldcg(its)) atomicMin(its, key);
            }
        }
        meet_grid(&rounds->arrived);
        for (i64 i = thread; i < count; i += threads) {
            const K key = __ldcg(now.key + i);
            const i64 at = __ldcg(now.at + i);
            for (const I* side : sides) {
                const u64 its = u64(__ldcg(side + i));
                if (key == __ldcg(least + its) && at < __ldcg(first + its)) atomicMin(first + its, at);
            }
        }
        meet_grid(&rounds->arrived);
        for (i64 i = thread; i < count; i += threads) {
            const i64 at = __ldcg(now.at + i);
            const I one = __ldcg(now.one + i), other = __ldcg(now.other + i);
            const bool leaves_one = __ldcg(first + u64(one)) == at, leaves_other = __ldcg(first + u64(other)) == at;
            if (!leaves_one && !leaves_other) continue;
            taken[at] = true;
            // If both components choose the edge, the smaller one is the root of both.
            const bool joins_other = leaves_one && (!leaves_other || other < one);
            component[u64(joins_other ? one : other)] = joins_other ? other : one;
        }
        meet_grid(&rounds->arrived);
        for (bool changes = true; changes;) {  // until each parent is a root
            bool changed = false;
            for (i64 i = thread; i < count; i += threads) {
                for (const I* side : sides) {
                    const u64 its = u64(__ldcg(side + i));
                    const I parent = __ldcg(component + its), above = __ldcg(component + u64(parent));
                    if (parent == above) continue;
                    component[its] = above;
                    changed = true;
                }
            }
            if (thread == 0) rounds->changed[(turn + 1) % SETS] = 0;
            if (__syncthreads_or(changed) && threadIdx.x == 0) atomicExch(rounds->changed + turn, 1ull);
            meet_grid(&rounds->arrived);
            changes = fresh(rounds->changed[turn]);
            turn = (turn + 1) % SETS;
        }
        if (thread == 0) rounds->counts[(set + 1) % SETS] = 0;
        for (i64 base = thread - lane(); base < count; base += threads) {
            const i64 i = base + lane();
            I one = 0, other = 0;
            if (i < count) {
                one = __ldcg(component + u64(__ldcg(now.one + i)));
                other = __ldcg(component + u64(__ldcg(now.other + i)));
            }
            const i64 place = place_for(one != other, rounds->counts + set);
            if (one == other) continue;
            next.one[place] = one;
            next.other[place] = other;
            next.key[place] = __ldcg(now.key + i);
            next.at[place] = __ldcg(now.at + i);
            least[u64(one)] = least[u64(other)] = LARGEST;
            first[u64(one)] = first[u64(other)] = NO_EDGE;
        }
        meet_grid(&rounds->arrived);
        count = fresh(rounds->counts[set]);
        set = (set + 1) % SETS;
        const Between<I, K> empty = now;
        now = next;
        next = empty;
    }
    // A root that joined another one in each round is below a chain of them, which is short.
    for (u64 v = thread_index(); v < vertices; v += thread_count()) {
        I root = __ldcg(component + v);
        for (I above = __ldcg(component + u64(root)); above != root; above = __ldcg(component + u64(root))) root = above;
        component[v] = root;
    }
}
