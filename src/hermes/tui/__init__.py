"""The terminal screen: a surface like any other, made of Textual."""
