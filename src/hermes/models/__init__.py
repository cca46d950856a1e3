"""Models: the dialects that speak to providers, and the model that runs in this process."""
