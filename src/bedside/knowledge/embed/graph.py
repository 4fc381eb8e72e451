"""MiniLM as an ONNX graph made from the weights, and its int8 form for the processor at hand."""

from __future__ import annotations

import hashlib
import logging
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import ModelProto, TensorProto, helper, numpy_helper

from bedside.knowledge.embed.weights import SHA256, Weights

__all__ = ["GRAPH_VERSION", "build_float", "cached_int8"]

GRAPH_VERSION = "2"
"""Raised whenever the graph, its quantising or what it is fed changes: old vectors are not used."""
HEADS = 12
LAYERS = 6
EPSILON = 1e-12
_FUSED = "com.microsoft"  # onnxruntime's own fused operators

Floats = NDArray[np.float32]


class _Maker:
    """Collects nodes and initializers under fresh names."""

    def __init__(self) -> None:
        self.nodes: list[object] = []
        self.initializers: list[TensorProto] = []

    def put(self, name: str, array: NDArray[np.generic]) -> str:
        self.initializers.append(numpy_helper.from_array(np.ascontiguousarray(array), name))
        return name

    def node(self, op: str, inputs: list[str], name: str, **attributes: Any) -> str:
        domain = str(attributes.pop("domain", ""))
        self.nodes.append(
            helper.make_node(op, inputs, [name], name=name, domain=domain, **attributes)
        )
        return name


def build_float(weights: Weights) -> ModelProto:
    """The float graph: `input_ids`, `attention_mask` (batch, length; int64) to `embedding`.

    `embedding` is (batch, 384), the masked mean of the last hidden states scaled to norm 1.
    """
    tensors, make = weights.tensors, _Maker()
    hidden = _embed(make, tensors)
    for layer in range(LAYERS):
        hidden = _layer(make, tensors, f"encoder.layer.{layer}", hidden)
    _pool(make, hidden)
    ids = helper.make_tensor_value_info("input_ids", TensorProto.INT64, ["batch", "length"])
    mask = helper.make_tensor_value_info("attention_mask", TensorProto.INT64, ["batch", "length"])
    out = helper.make_tensor_value_info("embedding", TensorProto.FLOAT, ["batch", 384])
    graph = helper.make_graph(
        make.nodes,  # type: ignore[arg-type]
        "minilm",
        [ids, mask],
        [out],
        make.initializers,
    )
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid(_FUSED, 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=9)


def _embed(make: _Maker, tensors: dict[str, Floats]) -> str:
    """Word, position and (only the first) type embeddings, normed."""
    words = make.put("words", tensors["embeddings.word_embeddings.weight"])
    positions = tensors["embeddings.position_embeddings.weight"]
    table = make.put("positions", positions + tensors["embeddings.token_type_embeddings.weight"][0])
    looked_up = make.node("Gather", [words, "input_ids"], "words_of")
    shape = make.node("Shape", ["input_ids"], "shape")
    one, two = make.put("one", np.array([1])), make.put("two", np.array([2]))
    zero = make.put("zero", np.array([0]))
    length = make.node("Slice", [shape, one, two], "length")
    rows = make.node("Slice", [table, zero, length, zero], "positions_of")
    summed = make.node("Add", [looked_up, rows], "embedded")
    return _norm(make, tensors, "embeddings.LayerNorm", summed)


def _layer(make: _Maker, tensors: dict[str, Floats], base: str, hidden: str) -> str:
    joined = [
        np.concatenate(
            [tensors[f"{base}.attention.self.{n}.{part}"].T for n in ("query", "key", "value")],
            axis=-1,
        )
        for part in ("weight", "bias")
    ]
    if "mask_lengths" not in {getattr(n, "name", "") for n in make.nodes}:
        mask = make.node("Cast", ["attention_mask"], "mask_i32", to=TensorProto.INT32)
        axis = make.put("axis_one", np.array([1]))
        make.node("ReduceSum", [mask, axis], "mask_lengths", keepdims=0)
    mixed = make.node(
        "Attention",
        [
            hidden,
            make.put(f"{base}.qkv", joined[0]),
            make.put(f"{base}.qkv_b", joined[1]),
            "mask_lengths",
        ],
        f"{base}.attended",
        domain=_FUSED,
        num_heads=HEADS,
    )
    mixed = _dense(make, tensors, f"{base}.attention.output.dense", mixed)
    hidden = _skip_norm(make, tensors, f"{base}.attention.output", mixed, hidden)
    wide = _dense(make, tensors, f"{base}.intermediate.dense", hidden, bias=False)
    bias = make.put(f"{base}.wide_b", tensors[f"{base}.intermediate.dense.bias"])
    bent = make.node("BiasGelu", [wide, bias], f"{base}.bent", domain=_FUSED)
    narrow = _dense(make, tensors, f"{base}.output.dense", bent)
    return _skip_norm(make, tensors, f"{base}.output", narrow, hidden)


def _dense(
    make: _Maker, tensors: dict[str, Floats], name: str, rows: str, *, bias: bool = True
) -> str:
    weight = make.put(f"{name}.w", tensors[f"{name}.weight"].T)
    product = make.node("MatMul", [rows, weight], f"{name}.product")
    if not bias:
        return product
    return make.node(
        "Add", [product, make.put(f"{name}.b", tensors[f"{name}.bias"])], f"{name}.out"
    )


def _norm(make: _Maker, tensors: dict[str, Floats], name: str, rows: str) -> str:
    scale = make.put(f"{name}.scale", tensors[f"{name}.weight"])
    shift = make.put(f"{name}.shift", tensors[f"{name}.bias"])
    return make.node(
        "LayerNormalization", [rows, scale, shift], f"{name}.normed", axis=-1, epsilon=EPSILON
    )


def _skip_norm(make: _Maker, tensors: dict[str, Floats], base: str, rows: str, skip: str) -> str:
    scale = make.put(f"{base}.scale", tensors[f"{base}.LayerNorm.weight"])
    shift = make.put(f"{base}.shift", tensors[f"{base}.LayerNorm.bias"])
    return make.node(
        "SkipLayerNormalization",
        [rows, skip, scale, shift],
        f"{base}.normed",
        domain=_FUSED,
        epsilon=EPSILON,
    )


def _pool(make: _Maker, hidden: str) -> None:
    mask = make.node("Cast", ["attention_mask"], "mask_f32", to=TensorProto.FLOAT)
    last = make.node("Unsqueeze", [mask, make.put("axis_last", np.array([2]))], "mask_wide")
    kept = make.node("Mul", [hidden, last], "kept")
    total = make.node(
        "ReduceSum", [kept, make.put("axis_length", np.array([1]))], "total", keepdims=0
    )
    # The norm falls out of the scale: a mean and a sum have one direction.
    make.node("LpNormalization", [total], "embedding", axis=1, p=2)


@contextmanager
def _without_advice() -> Iterator[None]:
    """Keep the quantiser's advice to pre-process off the log: this graph is made as it wants it."""

    def other(record: logging.LogRecord) -> bool:
        return "pre-processing" not in record.getMessage()

    root = logging.getLogger()
    root.addFilter(other)
    try:
        yield
    finally:
        root.removeFilter(other)


def cached_int8(load: Callable[[], Weights], cache: Path) -> tuple[Path, str]:
    """The int8 graph's file and the tokenizer's JSON, made on first use and verified on each.

    Weights are int8 per column, activations quantised as they come. The archive is read only when
    the cache lacks the graph or what it holds does not match the digests written when it was made.
    Two processes may make it at once: each writes its own files, and the last rename wins with the
    same content.
    """
    name = hashlib.sha256(f"{SHA256}:{GRAPH_VERSION}".encode()).hexdigest()[:16]
    graph, words, seal = (cache / f"minilm-{name}.{end}" for end in ("onnx", "json", "sha256"))
    if seal.is_file() and graph.is_file() and words.is_file():
        tokenizer = words.read_text(encoding="utf-8")
        if seal.read_text(encoding="utf-8") == _seal(graph.read_bytes(), tokenizer):
            return graph, tokenizer
    cache.mkdir(parents=True, exist_ok=True)
    weights = load()
    from onnxruntime.quantization import QuantType, quantize_dynamic

    with tempfile.TemporaryDirectory(dir=cache) as folder:
        source, made = Path(folder) / "float.onnx", Path(folder) / "int8.onnx"
        source.write_bytes(build_float(weights).SerializeToString())
        with _without_advice():
            quantize_dynamic(
                source,
                made,
                weight_type=QuantType.QInt8,
                per_channel=True,
                reduce_range=True,  # 7 bits: processors without VNNI saturate on 8
                op_types_to_quantize=["MatMul", "Attention"],
                extra_options={"DefaultTensorType": int(TensorProto.FLOAT)},
            )
        texts = (Path(folder) / "words", Path(folder) / "seal")
        texts[0].write_text(weights.tokenizer, encoding="utf-8")
        texts[1].write_text(_seal(made.read_bytes(), weights.tokenizer), encoding="utf-8")
        for fresh, target in ((made, graph), (texts[0], words), (texts[1], seal)):
            fresh.replace(target)
    return graph, weights.tokenizer


def _seal(graph: bytes, tokenizer: str) -> str:
    return hashlib.sha256(graph + tokenizer.encode()).hexdigest()
