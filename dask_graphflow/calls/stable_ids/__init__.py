"""Ids of groups that stay the same while the groups change."""
