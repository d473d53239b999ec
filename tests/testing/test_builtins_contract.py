"""Every built-in keeps the contract that strangers are held to."""

from __future__ import annotations

import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import olav_hashing
import pytest
from tiny_cross_encoder import write_tiny_cross_encoder
from tiny_model import write_tiny_model
from tiny_string_model import write_tiny_string_model

from olav_core import build_registry
from olav_core.host.validation import SPEC_TYPES
from olav_core.testing import CONTRACTS, PluginContract

REGISTRY = build_registry(disabled=())
HEAD = "schema_version: 1\n"
#: What a contract needs to know of a built-in that it cannot make up.
SAMPLES: dict[tuple[str, str], dict[str, Any]] = {
    ("gates", "distance"): {"options": {"max": 0.65}},
    ("importers", "guide"): {
        "files": {
            "a.guide.yaml": f"{HEAD}intent: restart_mail\nagent: core\nkeywords: [mail]\nbody: Restart it.\n",
            "b.guide.yaml": f"{HEAD}intent: 重启邮件\nagent: core\nkeywords: [邮件]\nbody: 重启 postfix。\n",
        },
        "bodies": ("Restart postfix.\n- then look at the queue", "先看队列，再重启 postfix。"),
    },
    ("importers", "format"): {
        "files": {"t.format.yaml": f"{HEAD}tag: topology\nkeywords: [topology]\nbody: Use Mermaid.\n"}
    },
    ("importers", "document"): {
        "files": {
            "a.md": "# BGP\n\nCheck the hold timer.\n\n```mermaid\ngraph TD\nR1 --> R2\n```\n",
            "b.txt": "先看接口，再看邻居。\n",
            "c.html": "<h1>BGP</h1><p>Check the hold timer.</p>",
            "d.rst": "BGP\n===\n\nCheck the hold timer.\n",
        },
        "bodies": ("# BGP\n\nCheck the hold timer.", "先看接口，再看邻居。"),
    },
    ("importers", "topology"): {
        "files": {
            "a.mmd": "graph TD\nR1 -->|eBGP| R2\n",
            "b.dot": "digraph { R1 -> R2 }",
            "c.svg": '<svg xmlns="http://www.w3.org/2000/svg"><text x="1" y="1">R1</text></svg>',
        },
        "bodies": (
            "graph TD\nR1 --> R2",
            "digraph { 核心 -> R2 }",
            '<svg xmlns="http://www.w3.org/2000/svg"><text x="1" y="1">R1</text></svg>',
        ),
    },
    ("embedders", "ensemble"): {
        "options": {"parts": [{"id": "hashing"}, {"id": "hashing", "options": {"dimension": 64}}]},
    },
    ("importers", "decisions"): {
        "files": {"cab.decisions.csv": "text,approver,devices\nAdd eBGP,amira,R1;R4\n批准升级固件,李四,SW1\n"}
    },
    ("importers", "facts"): {
        "files": {
            "a.facts.csv": "text,subject,attribute,value\nR1 is in rack 12,R1,rack,12\n",
            "b.facts.csv": "text\nR4 在 7 号机架\n",
        }
    },
    ("importers", "preferences"): {"files": {"p.preferences.csv": "user,text\nlin,answer shortly\n"}},
    ("redactors", "secrets"): {
        "secrets": (
            ("Authorization: Bearer abcdefghijklmnopqrstuvwxyz012345", "abcdefghijklmnopqrstuvwxyz012345"),
            ("snmp-server community s3cr3tcomm RO", "s3cr3tcomm"),
        )
    },
    ("confirmations", "confirmations_en"): {
        "confirming": ("OK!", "yes, save it", "sure, go ahead, thanks", "yes 入库", "Looks good to me 👍"),
        "other": ("no problem here", "perfect", "that right", "if you say so", "yes I know what you mean"),
    },
    ("confirmations", "confirmations_zh"): {
        "confirming": ("可以", "好的，保存吧", "确认入库，谢谢", "嗯，可以的", "就这么存吧"),
        "other": ("嗯", "对了", "行了", "好了", "是吧", "没，问题在别处", "可以不可以", "谢谢"),
    },
    ("verb_matchers", "verbs"): {
        "calls": {"createUser": "create", "deploy-lab": "deploy", "netops.push_config": "push"},
    },
    ("verb_matchers", "verbs_zh"): {
        "calls": {"创建用户": "创建", "推送配置": "推送"},
        "reads": ("获取更新状态",),
        "new_verb": ("巡更", "巡更机房"),
    },
}


#: Built-ins that need a model or an endpoint, by the fixture that makes it.
FIXTURES = ("onnx_samples", "openai_samples", "use_samples", "cross_encoder_samples", "http_rerank_samples")


def cases() -> Iterator[Any]:
    for kind, contract in CONTRACTS.items():
        for id in getattr(REGISTRY, kind):
            owner = REGISTRY.owner(kind, id)
            if not owner.builtin:
                continue
            samples = SAMPLES.get((kind, id), {})
            for rule in contract.rules():
                yield pytest.param(
                    contract,
                    owner.entry_point,
                    id,
                    samples,
                    rule,
                    id=f"{kind}-{id}-{rule.removeprefix('test_')}",
                )


@pytest.mark.parametrize(("contract", "module", "id", "samples", "rule"), list(cases()))
def test_a_built_in_keeps_the_rule(
    contract: type[PluginContract],
    module: str,
    id: str,
    samples: dict[str, Any],
    rule: str,
    request: pytest.FixtureRequest,
) -> None:
    if f"{id}_samples" in FIXTURES:
        samples = request.getfixturevalue(f"{id}_samples")
    getattr(contract.of(module, id, **samples), rule)()


@pytest.fixture(scope="session")
def onnx_samples(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """A model of a few words in a directory, and texts of these words."""
    return {
        "options": {"path": str(write_tiny_model(tmp_path_factory.mktemp("onnx")))},
        "texts": ("alpha", "beta beta gamma", "gamma alpha", "beta"),
        "related": ("alpha beta", "beta alpha alpha", "gamma"),
        "filler": "alpha beta ",
        "endings": ("gamma gamma", "beta beta"),
    }


@pytest.fixture(scope="session")
def use_samples(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """A model that takes strings, and texts of its words."""
    return {
        "options": {"path": str(write_tiny_string_model(tmp_path_factory.mktemp("use") / "model.onnx"))},
        "texts": ("alpha", "beta beta gamma", "gamma alpha", "beta"),
        "related": ("alpha beta", "beta alpha alpha", "gamma"),
        "filler": "alpha beta ",
        "endings": ("gamma gamma gamma gamma", "beta beta beta beta"),
    }


@pytest.fixture(scope="session")
def cross_encoder_samples(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return {"options": {"path": str(write_tiny_cross_encoder(tmp_path_factory.mktemp("cross-encoder")))}}


@pytest.fixture(scope="session")
def http_rerank_samples() -> Iterator[dict[str, Any]]:
    """An endpoint on the loopback that prefers long texts."""

    class Endpoint(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            texts = json.loads(self.rfile.read(int(self.headers["content-length"])))["documents"]
            rows = [{"index": i, "relevance_score": float(len(text))} for i, text in enumerate(texts)]
            content = json.dumps({"results": rows}).encode()
            self.send_response(200)
            self.send_header("content-length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Endpoint)
    Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    yield {"options": {"url": f"http://127.0.0.1:{server.server_address[1]}/rerank"}}
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="session")
def openai_samples() -> Iterator[dict[str, Any]]:
    """An endpoint on the loopback that gives the hashing embedder's vectors."""

    class Endpoint(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            texts = json.loads(self.rfile.read(int(self.headers["content-length"])))["input"]
            vectors = olav_hashing.make({}).embed_passages(texts)
            data = [{"index": i, "embedding": vector.tolist()} for i, vector in enumerate(vectors)]
            content = json.dumps({"data": data}).encode()
            self.send_response(200)
            self.send_header("content-length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Endpoint)
    Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    yield {"options": {"base_url": f"http://127.0.0.1:{server.server_address[1]}/v1", "model": "hashed"}}
    server.shutdown()
    server.server_close()


def test_every_kind_but_commands_and_suites_has_a_contract() -> None:
    assert set(CONTRACTS) == set(SPEC_TYPES) - {"commands", "suites"}
