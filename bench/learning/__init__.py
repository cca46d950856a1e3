"""The evaluation of what Hermes learns, against a model that knows nothing but its prompt. Described in docs/learning.md."""
