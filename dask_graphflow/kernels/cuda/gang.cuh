// A gang: a grid whose blocks all run at once, so that they can wait for each other. It does many steps in one launch.
// The first block does short steps alone, so it need not wait for other blocks. A launch that the host waits for takes
// about 20 us, a barrier of the grid 2 us, and a barrier of a block less than 0.1 us.
//
// Each step counts into one of three sets of numbers, in turn. All blocks read a set after the barrier that ends its
// step. The set is cleared two steps after its own, before the step that counts into it again.
#pragma once

#ifndef GANG
#define GANG 512  // threads per block
#endif

[[maybe_unused]] constexpr u32 SETS = 3;
[[maybe_unused]] constexpr i64 ALONE = GANG / 2;  // up to this many items, one block is as fast as all blocks
[[maybe_unused]] constexpr u32 SHARES = 4;        // lanes per item for short rows

// Read a value that other threads write, in shared memory or in global memory past L1.
template <typename T>
__device__ __forceinline__ T fresh(const T& from)
{
    return *static_cast<const volatile T*>(&from);
}

__device__ __forceinline__ Listed fresh_of(const Listed& from)
{
    return {fresh(from.count), fresh(from.edges), fresh(from.largest)};
}

// Wait for all blocks. Afterwards all threads see earlier writes of any thread, if they read past L1.
__device__ __forceinline__ void meet_grid(u32* arrived)
{
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        const u32 ticket = atomicAdd(arrived, 1u);
        const u32 goal = (ticket / gridDim.x + 1) * gridDim.x;
        while (int(fresh(*arrived) - goal) < 0) __nanosleep(32);
        __threadfence();
    }
    __syncthreads();
}

// The members of a gang. If they have a device each, a kernel of one member reads and writes the memory of the others.
[[maybe_unused]] constexpr u32 MEMBERS = 16;  // most members of such a gang
[[maybe_unused]] constexpr u32 WORDS = 8;     // most numbers that a member tells another one in a meeting
[[maybe_unused]] constexpr i64 NEVER = 0x7fffffffffffffffll;
[[maybe_unused]] constexpr u32 LOOKS = 64;   // meetings until a member that never waits looks whether to give up

// What the members tell each other when they meet. It is in the memory of one of them, and the others write to it.
struct Mail {
    u64 tail;                     // where the member's list ends
    u32 met[MEMBERS];             // number of meetings at which each member has arrived
    i64 told[2][MEMBERS][WORDS];  // by even and odd meetings: what each member tells this one
};

struct Gang {
    u32 rank, size;
    i64 bounds[MEMBERS + 1];  // where the members' ranges of vertices begin, and where the last one ends
    Mail* mail[MEMBERS];
    u32* meetings;            // number of meetings so far, and whether the members have given up
    const u32* stopped;       // in host memory; not 0 once the members must give up

    __device__ __forceinline__ u32 owner_of(i64 vertex) const
    {
        u32 owner = 0;
        for (u32 q = 1; q < size; ++q) owner += vertex >= bounds[q];
        return owner;
    }

    // Replace the number of a vertex by its position at its owner. Return the owner.
    template <typename I>
    __device__ __forceinline__ u32 locate(I& vertex) const
    {
        const u32 owner = owner_of(i64(vertex));
        vertex -= I(bounds[owner]);
        return owner;
    }
};

// Return whether the members have given up. Then a kernel must not use what the others were to do before it.
__device__ __forceinline__ bool gave_up(const Gang& gang)
{
    return gang.size > 1 && fresh(gang.meetings[1]);
}

// One column of each member.
template <typename T>
struct Columns {
    T* of[MEMBERS];
};

// What a member learns in a meeting: the number of items that it was given, and over all members, the number of items
// given, the sum of their edges and their most edges, and the smallest number that a member told.
struct Told {
    i64 here, everywhere, edges, largest, least;
};

// What a member tells in a meeting.
struct Telling {
    u64 sent[MEMBERS];           // number of items that it gave each member
    i64 edges, largest, least;
};

__device__ __forceinline__ void clear(Telling& telling)
{
    if (lane() < MEMBERS) telling.sent[lane()] = 0;
    if (lane() == 0) {
        telling.edges = telling.largest = 0;
        telling.least = NEVER;
    }
}

__device__ __forceinline__ Told fresh_of(const Told& from)
{
    return {fresh(from.here), fresh(from.everywhere), fresh(from.edges), fresh(from.largest), fresh(from.least)};
}

// Lane q tells member q some numbers, and gets those that member q tells this one. A warp of one block calls it, after all
// other threads of the member have done their part of the step. Return false if the members give up. The numbers are then
// those of this member, which kernels that were launched already can use as well.
template <u32 COUNT>
__device__ __forceinline__ bool swap_numbers(const Gang& gang, i64 (&numbers)[COUNT])
{
    static_assert(COUNT <= WORDS, "a mail has room for these numbers");
    if (gang.size == 1) return true;
    const u32 q = lane(), meeting = fresh(*gang.meetings) + 1;
    const bool member = q < gang.size;
    Mail& own = *gang.mail[gang.rank];
    if (member) {
        volatile i64* mail = gang.mail[q]->told[meeting % 2][gang.rank];
#pragma unroll
        for (u32 i = 0; i < COUNT; ++i) mail[i] = numbers[i];
        __threadfence_system();
        *static_cast<volatile u32*>(gang.mail[q]->met + gang.rank) = meeting;
    }
    const auto goes_on = [&] { return !__shfl_sync(ALL_LANES, fresh(*gang.stopped), 0); };
    const auto waits = [&] { return member && int(fresh(own.met[q]) - meeting) < 0; };
    // A look reads host memory, which takes about a microsecond.
    bool fine = meeting % LOOKS || goes_on();
    for (u32 looks = 1; fine && __any_sync(ALL_LANES, waits()); ++looks)
        if (looks % 256 == 0) fine = goes_on();
    __threadfence_system();
    const i64* mail = own.told[meeting % 2][member ? q : 0];
#pragma unroll
    for (u32 i = 0; i < COUNT; ++i)
        if (member && fine) numbers[i] = fresh(mail[i]);
    if (q == 0) {
        gang.meetings[0] = meeting;
        if (!fine) gang.meetings[1] = 1;
    }
    return fine;
}

// Tell all members, and wait for what they tell; see swap_numbers().
__device__ __forceinline__ bool tell(const Gang& gang, const Telling& telling, Told& told)
{
    const bool member = lane() < gang.size;
    i64 here = member ? i64(fresh(telling.sent[lane()])) : 0;
    Told all{0, warp_sum(here), fresh(telling.edges), fresh(telling.largest), fresh(telling.least)};
    i64 numbers[] = {here, all.everywhere, all.edges, all.largest, all.least};
    const bool fine = swap_numbers(gang, numbers);
    if (gang.size > 1) {
        here = member ? numbers[0] : 0;
        all.everywhere = warp_sum(member ? numbers[1] : 0);
        all.edges = warp_sum(member ? numbers[2] : 0);
        all.largest = warp_max(member ? numbers[3] : 0);
        all.least = warp_min(member ? numbers[4] : NEVER);
    }
    all.here = gang.size > 1 ? warp_sum(here) : all.everywhere;
    told = all;
    return fine;
}

// The state of a grid that takes part in meetings. It begins with zeros, and with clear() for what is told.
template <typename Said, typename Heard>
struct MeetingsOf {
    Said telling[SETS];
    Heard told;          // in the last meeting
    u32 arrived;         // blocks, over all meetings of the launch
    u32 over;            // number of meetings that are over
    u32 failed;          // whether the members have given up
    u32 blocks;          // of meet_grid()
};

// The state of members that have a list each.
struct Meetings : MeetingsOf<Telling, Told> {
    i64 begin, end;      // of the items of the next step in the list
};

// A block's part in the meetings that end the steps of a gang. A step is one of all blocks of all members, or of their
// first blocks. Threads count into telling() during a step.
template <typename Said, typename Heard>
struct MeetingOf {
    const Gang& gang;
    MeetingsOf<Said, Heard>* state;
    Said* alone = nullptr;       // in shared memory
    u32 steps = 0, steps_alone = 0;  // number of steps so far
    bool failed = false;  // whether the members gave up in any meeting so far

    // Prepare for steps of the first block alone.
    __device__ __forceinline__ void prepare(Said* sets)
    {
        alone = sets;
        if (threadIdx.x < 32)
            for (u32 i = 0; i < SETS; ++i) clear(alone[i]);
        __syncthreads();
    }

    __device__ __forceinline__ void fence() const
    {
        if (gang.size > 1)
            __threadfence_system();
        else
            __threadfence();
    }

    // Call f(Said&), and return what all members told when all threads that take the step have called it. One warp
    // calls meet(const Said&, Heard&), which tells the others and returns false if the members give up.
    template <typename F, typename Meet>
    __device__ __forceinline__ Heard take(bool by_first_blocks, F f, Meet meet)
    {
        __shared__ Heard shared;
        __shared__ bool fine;
        Said* sets = by_first_blocks ? alone : state->telling;
        u32& step = by_first_blocks ? steps_alone : steps;
        f(sets[step % SETS]);
        __syncthreads();
        if (blockIdx.x == 0) {
            if (!by_first_blocks && threadIdx.x == 0)
                while (fresh(state->arrived) != (gridDim.x - 1) * (step + 1)) __nanosleep(20);
            if (threadIdx.x < 32) {
                __syncwarp();
                if (gang.size > 1 || !by_first_blocks) fence();
                Heard told;
                const bool all = meet(sets[step % SETS], told);
                // No thread counts into the set after the next before the next meeting.
                clear(sets[(step + 2) % SETS]);
                if (lane() == 0) {
                    shared = told;
                    fine = all;
                    if (!by_first_blocks) {
                        state->told = told;
                        if (!all) state->failed = 1;
                        __threadfence();
                        atomicExch(&state->over, step + 1);
                    }
                }
            }
        } else if (threadIdx.x == 0) {
            fence();
            atomicAdd(&state->arrived, 1u);
            while (fresh(state->over) != step + 1) __nanosleep(20);
            __threadfence();
            shared = fresh_of(state->told);
            fine = !fresh(state->failed);
        }
        __syncthreads();
        ++step;
        const Heard told = shared;
        failed |= !fine;
        __syncthreads();
        return told;
    }
};

// The part of a block whose member has a list.
struct Meeting : MeetingOf<Telling, Told> {
    i64 end = 0;  // where this member's list ends

    // Begin a list with items that this member sends itself in the first step, for which all members wait.
    __device__ __forceinline__ void begin(i64 first)
    {
        end = first;
        if (gang.size > 1 && blockIdx.x == 0 && threadIdx.x == 0)
            gang.mail[gang.rank]->tail = u64(first) + state->telling[0].sent[gang.rank];
    }

    template <typename F>
    __device__ __forceinline__ Told take(bool by_first_blocks, F f)
    {
        const Told told = MeetingOf::take(by_first_blocks, f, [&](const Telling& telling, Told& all) {
            return tell(gang, telling, all);
        });
        end += told.here;
        return told;
    }

    // After steps of the first block alone, it saves where they ended, and all blocks load it.
    __device__ __forceinline__ void save(i64 begin, const Told& told) const
    {
        Meetings& saved = *static_cast<Meetings*>(state);
        saved.begin = begin;
        saved.end = end;
        saved.told = told;
        saved.failed = failed;
    }
    __device__ __forceinline__ void load(i64& begin, Told& told)
    {
        const Meetings& saved = *static_cast<Meetings*>(state);
        begin = fresh(saved.begin);
        end = fresh(saved.end);
        told = fresh_of(saved.told);
        failed = fresh(saved.failed);
    }
};

// The numbers and the sizes of rows that a lane has listed.
struct Measured {
    i64 edges = 0, largest = 0;

    __device__ __forceinline__ void add(bool listed, i64 size)
    {
        if (!listed) return;
        edges += size;
        largest = max(largest, size);
    }

    // All lanes of a warp call this together.
    __device__ __forceinline__ void tell(Telling& telling)
    {
        __syncwarp();
        if (!__any_sync(ALL_LANES, edges > 0)) return;
        edges = warp_sum(edges);
        largest = warp_max(largest);
        if (lane() == 0) {
            add_to(&telling.edges, edges);
            atomicMax(&telling.largest, largest);
        }
    }
};

// Append the items of a warp's lanes to the lists of their owners, which begin again at `ring + 1` places, a power of
// two. All lanes of a warp call this together.
template <typename I>
__device__ __forceinline__ void give(const Meeting& meeting, const Columns<I>& lists, Telling& telling, bool mine,
                                     u32 owner, I item, u64 ring = ~0ull)
{
    const Gang& gang = meeting.gang;
    for (u32 q = 0; q < gang.size; ++q) {
        const u32 lanes = __ballot_sync(ALL_LANES, mine && owner == q);
        if (!lanes) continue;
        u64 place = 0;
        if (lane() == 0) {
            place = u64(meeting.end) + atomicAdd(telling.sent + q, u64(__popc(lanes)));
            if (gang.size > 1) place = atomicAdd_system(&gang.mail[q]->tail, u64(__popc(lanes)));
        }
        place = __shfl_sync(ALL_LANES, place, 0);
        if (mine && owner == q) lists.of[q][(place + __popc(lanes & lanes_before())) & ring] = item;
    }
}

// Return the smallest of the values that all threads of the gang have. `found` is NEVER initially.
__device__ __forceinline__ i64 gang_least(i64 value, i64* found, u32* arrived)
{
    value = warp_min(value);
    if (lane() == 0 && value < NEVER) atomicMin(found, value);
    meet_grid(arrived);
    return fresh(*found);
}

// Take steps until stops() is true. step(false) is a step of all blocks, and step(true) one of the first block alone,
// which takes the steps with few items. Each step sets `items`. After several of its own, the first block calls save(),
// and then all blocks call load().
template <typename Stops, typename Step, typename Save, typename Load>
__device__ __forceinline__ void take_steps(const i64& items, u32* arrived, Stops stops, Step step, Save save, Load load)
{
    while (!stops()) {
        if (items > ALONE) {
            step(false);
            continue;
        }
        if (blockIdx.x == 0) {
            do {
                step(true);
            } while (!stops() && items <= ALONE);
            if (threadIdx.x == 0) {
                // A slow block may still read what the last step of all blocks told, which is saved over.
                while (fresh(*arrived) % gridDim.x != gridDim.x - 1) __nanosleep(20);
                save();
            }
        }
        meet_grid(arrived);
        load();
    }
}

// Call visit(valid, row, edge) for the edges of `count` items. vertex(i) is the row of item i, and `begins` and `stops`
// contain where each row begins and ends. All warps of the grid share the items, or the warps of one block if it is
// `alone`. All lanes of a warp call `visit` together.
template <typename Vertex, typename Visit>
__device__ __forceinline__ void visit_rows(const i64* begins, const i64* stops, i64 count, bool alone, Vertex vertex,
                                           Visit visit)
{
    constexpr u32 ITEMS = 32 / SHARES;
    const i64 warps = alone ? blockDim.x / 32 : i64(gridDim.x) * (blockDim.x / 32);
    const i64 warp = threadIdx.x / 32 + (alone ? 0 : i64(blockIdx.x) * (blockDim.x / 32));
    for (i64 first = warp * ITEMS; first < count; first += warps * ITEMS) {
        const i64 at = first + lane() / SHARES;
        u64 mine = 0;
        i64 edge = 0, end = 0;
        if (at < count) {
            mine = vertex(at);
            edge = begins[mine];
            end = stops[mine];
        }
        const i64 rest = edge + 32;
        for (edge += lane() % SHARES; __any_sync(ALL_LANES, edge < min(end, rest)); edge += SHARES)
            visit(edge < min(end, rest), mine, edge);
        u32 longer = __ballot_sync(ALL_LANES, lane() % SHARES == 0 && rest < end);
        for (; longer; longer &= longer - 1) {
            const u32 from = __ffs(longer) - 1;
            const u64 row = __shfl_sync(ALL_LANES, mine, from);
            const i64 stop = __shfl_sync(ALL_LANES, end, from);
            for (i64 e = __shfl_sync(ALL_LANES, rest, from); e < stop; e += 32)
                visit(e + lane() < stop, row, e + lane());
        }
    }
}
