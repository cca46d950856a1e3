"""Skills: instructions for kinds of tasks, kept only if they were shown to help."""
