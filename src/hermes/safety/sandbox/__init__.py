"""What the operating system keeps a command from doing on this machine, whatever the command says."""
