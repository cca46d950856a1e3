"""What Hermes learns from its own use: recall, memory, skills."""
