"""Reviews: reading a session for what is worth remembering."""
