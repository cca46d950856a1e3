"""The box that a person types into: editing, history, completion, pastes. What becomes of the text is not its affair."""
