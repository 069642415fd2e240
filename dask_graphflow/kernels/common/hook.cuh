// What kernels that hook edges share: the size of a sample's blocks, and their report to the host.
#pragma once

constexpr u64 SAMPLE_BLOCK = 256;  // consecutive edges that a sample takes together

// The report of a hook launch to the host.
struct Report {
    u64 hooked;  // number of edges whose ends had different parents
    i64 low;     // smallest and largest id of the edges with an end outside the forest
    i64 high;
};
