"""Embedding: the handle of the configured embedder, ONNX encoders, spaces and distances."""
