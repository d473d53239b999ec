"""Context of one model call in three layers: always, on_intent, recalled."""
