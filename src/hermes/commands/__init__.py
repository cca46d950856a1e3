"""The slash commands: text in; ops, a reply or something for the screen to do out. No surface is known here."""
