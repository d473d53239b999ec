"""A model of eight words whose vectors can be worked out by hand: a state is the word's row of a table."""

from __future__ import annotations

from pathlib import Path

import numpy as np

WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "alpha", "beta", "gamma", "query:"]
TABLE = np.random.default_rng(7).normal(size=(len(WORDS), 6)).astype(np.float32)


def write_tiny_model(directory: Path, *, pooled: bool = False, special: bool = True) -> Path:
    """Write model.onnx and tokenizer.json. `pooled`: the graph gives [batch, 6] (the first state) only."""
    import onnx
    from onnx import TensorProto, helper, numpy_helper
    from tokenizers import Tokenizer, models, pre_tokenizers, processors

    directory.mkdir(parents=True, exist_ok=True)
    inputs = [
        helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "sequence"])
        for name in ("input_ids", "attention_mask", "token_type_ids")
    ]
    constants = [numpy_helper.from_array(TABLE, "table"), numpy_helper.from_array(np.array(0), "first")]
    nodes = [helper.make_node("Gather", ["table", "input_ids"], ["last_hidden_state"], axis=0)]
    output = helper.make_tensor_value_info("last_hidden_state", TensorProto.FLOAT, ["batch", "sequence", 6])
    if pooled:
        nodes.append(
            helper.make_node("Gather", ["last_hidden_state", "first"], ["sentence_embedding"], axis=1)
        )
        output = helper.make_tensor_value_info("sentence_embedding", TensorProto.FLOAT, ["batch", 6])
    graph = helper.make_graph(nodes, "tiny", inputs, [output], constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.save(model, str(directory / "model.onnx"))
    tokenizer = Tokenizer(models.WordLevel({word: i for i, word in enumerate(WORDS)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    if special:
        tokenizer.post_processor = processors.TemplateProcessing(
            single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
        )
        tokenizer.add_special_tokens(["[CLS]", "[SEP]", "[PAD]"])
    # As some published files have it: whoever forgets to switch this off pays for, and pools, the padding.
    tokenizer.enable_padding(length=128)
    tokenizer.enable_truncation(max_length=8)
    tokenizer.save(str(directory / "tokenizer.json"))
    return directory


def states(text: str, *, special: bool = True) -> np.ndarray:
    """The token states of a text, float32 [tokens, 6]."""
    words = text.split()
    return TABLE[[WORDS.index(word) for word in (["[CLS]", *words, "[SEP]"] if special else words)]]


def unit(vector: np.ndarray) -> np.ndarray:
    return vector / np.linalg.norm(vector)
