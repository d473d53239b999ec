"""Drafts: memories that wait for a person's word. Whoever proposes them, one road leads into the store."""
