"""What people do with Hermes, told through the real session and the real command against a scripted model server."""
