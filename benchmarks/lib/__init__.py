"""What the commands share: the harness, inputs, checks of answers, and results."""
