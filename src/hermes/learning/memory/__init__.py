"""Memory: what is kept from session to session."""
