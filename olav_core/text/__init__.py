"""Text: terms for the lexical index, and the language of a text."""
