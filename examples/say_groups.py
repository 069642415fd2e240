"""Say in a sentence what the demo found: `python say_groups.py labels.parquet`."""

import sys

import pandas as pd


def sentence(path: str) -> str:
    """Return a sentence about the components in a file of labels."""
    labels = pd.read_parquet(path)
    largest, second, *_ = labels["component"].value_counts()
    groups = labels["component"].nunique()
    return (
        f"The {len(labels):,} packages of Debian 12 form {groups:,} groups. "
        "No package depends on one of another group.\n"
        f"The largest group has {largest:,} packages ({largest / len(labels):.0%} of all), "
        f"and the second largest has {second:,}.\n"
        f"{path} says for each package (vertex) to which group (component) it belongs."
    )


if __name__ == "__main__":
    print(sentence(sys.argv[1]))
