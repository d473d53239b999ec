"""A model with its tokenizer in the graph: counts a few words and lays them out on a table."""

from __future__ import annotations

from pathlib import Path

import numpy as np

WORDS = ["alpha", "beta", "gamma"]
TABLE = np.random.default_rng(11).normal(size=(len(WORDS), 8)).astype(np.float32)
BIAS = np.full((1, 8), 0.01, np.float32)


def write_tiny_string_model(path: Path) -> Path:
    """Write a model that takes strings [n] and gives float32 [n, 8]."""
    import onnx
    from onnx import TensorProto, helper, numpy_helper

    constants = [numpy_helper.from_array(TABLE, "table"), numpy_helper.from_array(BIAS, "bias")]
    count = len(WORDS)
    nodes = [
        helper.make_node("StringSplit", ["inputs"], ["words", "lengths"], delimiter=" "),
        helper.make_node(
            "TfIdfVectorizer", ["words"], ["counts"], mode="TF", min_gram_length=1, max_gram_length=1,
            max_skip_count=0, ngram_counts=[0], ngram_indexes=list(range(count)), pool_strings=WORDS,
        ),
        helper.make_node("MatMul", ["counts", "table"], ["summed"]),
        helper.make_node("Add", ["summed", "bias"], ["outputs"]),
    ]  # fmt: skip
    inputs = [helper.make_tensor_value_info("inputs", TensorProto.STRING, ["n"])]
    outputs = [helper.make_tensor_value_info("outputs", TensorProto.FLOAT, ["n", 8])]
    graph = helper.make_graph(nodes, "tiny-strings", inputs, outputs, constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)
    path.parent.mkdir(parents=True, exist_ok=True)
    onnx.save(model, str(path))
    return path
