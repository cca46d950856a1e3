"""Compaction: when the window fills up, shorter texts stand in the model's view for what the log keeps whole."""
