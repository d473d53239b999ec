"""Peers by what they find: one module a peer, each with a class Store that the runner fills and asks."""
