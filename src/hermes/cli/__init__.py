"""The `hermes` command: words on the command line in, one line per error out."""
