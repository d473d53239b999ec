"""The chat model behind an endpoint: protocols, retries, errors that say what to do."""

from __future__ import annotations

import json
import socket
from pathlib import Path

import pytest
from scripted_chat import serving

import olav_core
from olav_core import Chat, ChatError, ChatSettings, ChatUnavailableError, ConfigError, Settings
from olav_core.config import EmbedderSettings

ASK = [{"role": "user", "content": "hello"}]
AGAIN = {"Retry-After": "0"}


def settings(url: str, **options: object) -> ChatSettings:
    return ChatSettings(base_url=url, model="tiny", api_key_env="TEST_CHAT_KEY", **options)  # type: ignore[arg-type]


def test_an_openai_style_endpoint(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_CHAT_KEY", "k-123")
    with serving("hi") as script, Chat(settings(f"{script.url}/v1/", max_tokens=9)) as chat:
        reply = chat.complete(ASK)
    path, headers, body = script.asked[0]
    assert (reply.text, reply.prompt_tokens, reply.reply_tokens) == ("hi", 11, 7)
    assert path == "/v1/chat/completions"
    assert headers["Authorization"] == "Bearer k-123"
    assert (body["model"], body["max_tokens"], body["stream"]) == ("tiny", 9, False)


def test_ollamas_own_protocol() -> None:
    with serving("hi") as script, Chat(settings(f"{script.url}/api")) as chat:
        assert chat.complete(ASK).reply_tokens == 7
    path, headers, body = script.asked[0]
    assert path == "/api/chat"
    assert "Authorization" not in headers
    assert body["options"]["num_predict"] == 2048
    assert body["options"]["num_ctx"] == 8192  # its own default cuts a prompt at the front


def test_a_busy_server_is_asked_again() -> None:
    with serving((503, "busy", AGAIN), (429, "slow down", AGAIN), "hi") as script:
        with Chat(settings(script.url)) as chat:
            assert chat.complete(ASK).text == "hi"
        assert len(script.asked) == 3


def test_the_tries_end_and_the_key_is_in_no_message(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_CHAT_KEY", "k-123")
    with serving((503, "busy k-123", AGAIN)) as script, Chat(settings(script.url, retries=2)) as chat:
        with pytest.raises(ChatUnavailableError, match="tried 3 times") as caught:
            chat.complete(ASK)
        assert len(script.asked) == 3
    assert "k-123" not in str(caught.value)


@pytest.mark.parametrize(
    ("status", "kind", "words"),
    [
        (401, ChatUnavailableError, "TEST_CHAT_KEY"),
        (404, ChatUnavailableError, "/v1"),
        (400, ChatError, "input limit"),
    ],
)
def test_a_refusal_is_not_asked_again(status: int, kind: type[ChatError], words: str) -> None:
    with serving((status, "no", {})) as script, Chat(settings(script.url)) as chat:
        with pytest.raises(kind, match=words):
            chat.complete(ASK)
        assert len(script.asked) == 1


@pytest.mark.parametrize(
    "raw", ["", "<html>", "[]", "{}", '{"choices": []}', '{"choices": [{"message": 3}]}']
)
def test_an_answer_that_is_none(raw: str) -> None:
    with serving((200, raw, {})) as script, Chat(settings(script.url)) as chat:
        complete = chat.complete
        with pytest.raises(ChatError, match="no chat answer"):
            complete(ASK)


def test_nobody_there() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://user:secret@127.0.0.1:{free.getsockname()[1]}"
        with Chat(settings(url, retries=0)) as chat, pytest.raises(ChatUnavailableError) as caught:
            chat.complete(ASK)
    assert "secret" not in str(caught.value)


def test_settings_without_an_endpoint_say_what_to_write() -> None:
    with pytest.raises(ConfigError, match=r"chat\.base_url and chat\.model"):
        Chat(ChatSettings())
    with pytest.raises(ConfigError, match="http"):
        Chat(ChatSettings(base_url="localhost:1", model="m"))


def test_further_fields_of_a_request(monkeypatch: pytest.MonkeyPatch) -> None:
    extra = {
        "max_tokens": None,
        "max_completion_tokens": 64,
        "chat_template_kwargs": {"enable_thinking": False},
    }
    with serving("hi") as script, Chat(settings(f"{script.url}/v1", options=extra)) as chat:
        chat.complete(ASK)
    body = script.asked[0][2]
    assert "max_tokens" not in body
    assert (body["max_completion_tokens"], body["chat_template_kwargs"]) == (64, {"enable_thinking": False})


def test_options_of_ollama_are_merged() -> None:
    extra = {"think": False, "options": {"num_ctx": 16384}}
    with serving("hi") as script, Chat(settings(f"{script.url}/api", options=extra)) as chat:
        chat.complete(ASK)
    body = script.asked[0][2]
    assert body["think"] is False
    assert (body["options"]["num_ctx"], body["options"]["num_predict"]) == (16384, 2048)


@pytest.mark.parametrize("url", ["http://exa mple:99999/v1", "http://[::1/v1"])
def test_a_url_that_is_none_is_a_wrong_setting(url: str) -> None:
    with Chat(settings(url, retries=0)) as chat, pytest.raises((ConfigError, ChatUnavailableError)) as caught:
        chat.complete(ASK)
    assert "base_url" in str(caught.value)


@pytest.mark.parametrize(
    ("path", "raw"),
    [
        (
            "v1",
            '{"choices": [{"finish_reason": "length", "message": {"content": [{"text": "a"}]}}]}',
        ),
        ("api", '{"done_reason": "length", "message": {"content": "a"}}'),
    ],
)
def test_an_answer_that_ran_out_of_tokens_says_so(path: str, raw: str) -> None:
    with serving((200, raw, {})) as script, Chat(settings(f"{script.url}/{path}")) as chat:
        reply = chat.complete(ASK)
    assert (reply.text, reply.cut) == ("a", True)


def test_recall_and_capture_ask_no_chat_model(tmp_path: Path) -> None:
    with serving("hi") as script:
        chosen = Settings(embedder=EmbedderSettings(id="hashing"), chat=settings(f"{script.url}/v1"))
        olav_core.init(tmp_path, embedder="hashing").close()
        with olav_core.open(tmp_path, settings=chosen) as memory:
            memory.remember("R1 is old.")
            memory.capture(tool="register_service", args={"name": "a"}, result="ok")
            memory.captures.drain()
            memory.recall("What about R1?")
            memory.enrich([{"role": "user", "content": "R1?"}])
        assert not script.asked


@pytest.mark.parametrize(
    "told",
    [
        {"usage": [1]},
        {"usage": "many"},
        {"choices": [{"message": {"content": "hi"}, "finish_reason": ["length"]}]},
        {"choices": [{"message": {"content": "\ud800"}}]},
        {"choices": [{"message": {"content": "", "tool_calls": [{"function": {"name": None}}]}}]},
        {"choices": [{"message": {"content": [7]}}]},
        {"choices": {"0": 1}},
    ],
)
def test_a_field_of_another_type_is_no_chat_answer(told: dict[str, object]) -> None:
    body = json.dumps({"choices": [{"message": {"content": "hi"}}], **told})
    with (
        serving((200, body, {})) as script,
        Chat(settings(script.url, retries=0)) as chat,
        pytest.raises(ChatError, match="gave no chat answer"),
    ):
        chat.complete(ASK)


def test_what_a_server_says_is_quoted_without_secrets() -> None:
    said = (400, "upstream said password=Hunter2Hunter2!", {})
    with (
        serving(said) as script,
        Chat(settings(script.url, retries=0)) as chat,
        pytest.raises(ChatError, match="upstream said") as caught,
    ):
        chat.complete(ASK)
    assert "Hunter2" not in str(caught.value)
