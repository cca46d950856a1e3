"""The agent itself: the turn, the session around it, and what the model is shown."""
