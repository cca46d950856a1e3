"""Hermes: a self-improving AI agent."""

__version__ = "0.1.0"
