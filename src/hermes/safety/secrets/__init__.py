"""Secrets in text: found by value, shape or name, and masked."""
