"""The store: one LanceDB table of memories, its side tables, and their upkeep."""
