"""What the model can do: files, shell, todo, clarify; and the toolsets that name them."""
