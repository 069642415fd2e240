"""What every algorithm declares: its options, result, cost and documentation, as objects."""
