"""What stands in the place of a secret."""

# Spelled so that this file does not hold what it looks for.
MASK = "\u2026[masked]"


def has_mask(text: str) -> bool:
    """Whether a text holds a mask: written to a file it would destroy the secret that stood there."""
    return MASK in text
