"""Behaviour: what an agent's model does with and without memory, by scenarios that are scripted turns."""
