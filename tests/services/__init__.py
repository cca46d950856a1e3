"""Small real servers on loopback that the stories of the suite talk to."""
