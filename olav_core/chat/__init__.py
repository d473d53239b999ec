"""Chat models: used to learn and to summarise, never on the path of a recall or a capture."""
