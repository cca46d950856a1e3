"""The one gate that every effect passes, and the checkpoints that can undo a change."""
