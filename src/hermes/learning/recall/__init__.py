"""Recall: finding what was said in earlier sessions, and what compaction took out of view in this one."""
