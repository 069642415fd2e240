"""One file for each question that ``python -m benchmarks NAME`` answers."""
