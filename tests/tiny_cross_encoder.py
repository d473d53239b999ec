"""A cross-encoder of a few words: its score is the sum of what each word of query and memory is worth."""

from __future__ import annotations

from pathlib import Path

import numpy as np

WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "router", "printer", "restart", "路由器", "是", "cake"]
WORTH = np.array([9, 0, 0, 0, 1, -1, 0.5, 2, 0, -3], np.float32)  # padding must not count: 9 would show


def write_tiny_cross_encoder(directory: Path, *, classes: int = 1) -> Path:
    """Write model.onnx and tokenizer.json; of two classes the first is the negative of the second."""
    import onnx
    from onnx import TensorProto, helper, numpy_helper
    from tokenizers import Tokenizer, models, pre_tokenizers, processors

    directory.mkdir(parents=True, exist_ok=True)
    inputs = [
        helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "sequence"])
        for name in ("input_ids", "attention_mask", "token_type_ids")
    ]
    table = WORTH[:, None] * (
        np.array([[-0.5, 0.5]], np.float32) if classes == 2 else np.ones((1, 1), np.float32)
    )
    constants = [
        numpy_helper.from_array(table.astype(np.float32), "table"),
        numpy_helper.from_array(np.array([1]), "tokens"),
        numpy_helper.from_array(np.array([2]), "last"),
    ]
    nodes = [
        helper.make_node("Gather", ["table", "input_ids"], ["worth"], axis=0),
        helper.make_node("Cast", ["attention_mask"], ["mask"], to=TensorProto.FLOAT),
        helper.make_node("Unsqueeze", ["mask", "last"], ["wide_mask"]),
        helper.make_node("Mul", ["worth", "wide_mask"], ["counted"]),
        helper.make_node("ReduceSum", ["counted", "tokens"], ["logits"], keepdims=0),
    ]
    output = helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["batch", classes])
    graph = helper.make_graph(nodes, "tiny-cross-encoder", inputs, [output], constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.save(model, str(directory / "model.onnx"))
    tokenizer = Tokenizer(models.WordLevel({word: i for i, word in enumerate(WORDS)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 2), ("[SEP]", 3)],
    )
    tokenizer.save(str(directory / "tokenizer.json"))
    return directory
