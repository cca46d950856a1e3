"""What Hermes keeps: sessions, their events, ops, journal, blobs. SQL lives here and nowhere else."""
