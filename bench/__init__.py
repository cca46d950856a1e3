"""What Hermes costs, measured beside what the same work costs without it, in the same run."""
