"""Chat models of this process: anything with LangChain's `invoke`, given, or named in the settings."""

from __future__ import annotations

from threading import Event
from typing import Any

import pytest
from langchain_core.language_models import FakeListChatModel
from langchain_core.messages import AIMessage
from langchain_openai import ChatOpenAI
from scripted_chat import serving

import olav_core.chat.invoked as invoked
from olav_core import (
    ChatError,
    ChatReply,
    ChatSettings,
    ChatUnavailableError,
    ConfigError,
    InvokedChat,
    as_chat,
    open_chat,
)

ASK = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "hello"}]


class Model:
    """Plays its steps: answers, or errors that it raises."""

    model_name = "tiny"

    def __init__(self, *steps: Any) -> None:
        self.steps = list(steps)
        self.seen: list[Any] = []

    def invoke(self, messages: Any) -> Any:
        self.seen.append(messages)
        step = self.steps.pop(0) if len(self.steps) > 1 else self.steps[0]
        if isinstance(step, BaseException):
            raise step
        return step


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(invoked, "FIRST_WAIT", 0.0)


def test_a_langchain_chat_model_answers() -> None:
    assert as_chat(FakeListChatModel(responses=["hi"])).complete(ASK) == ChatReply(text="hi")


def test_its_costs_and_its_blocks_are_read() -> None:
    answer = AIMessage(
        content=[{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "hi"}],
        usage_metadata={"input_tokens": 11, "output_tokens": 7, "total_tokens": 18},
        response_metadata={"finish_reason": "length"},
    )
    model = Model(answer)
    assert as_chat(model).complete(ASK) == ChatReply(text="hi", prompt_tokens=11, reply_tokens=7, cut=True)
    assert model.seen == [ASK]


def test_langchains_own_client_against_an_endpoint() -> None:
    with serving("hi") as script:
        model = ChatOpenAI(base_url=f"{script.url}/v1", model="tiny", api_key="k", max_retries=0)
        reply = as_chat(model).complete(ASK)
    assert reply.text == "hi"
    assert script.asked[0][2]["messages"] == ASK


def test_what_passes_is_asked_again() -> None:
    model = Model(ConnectionError("refused"), TimeoutError(), "hi")
    assert InvokedChat(model).complete(ASK).text == "hi"
    assert len(model.seen) == 3


def test_the_tries_end_and_the_key_is_in_no_message(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k-123")
    model = Model(ConnectionError("refused k-123"))
    with pytest.raises(
        ChatUnavailableError, match=r"tiny failed: ConnectionError: refused \*\*\*; tried 2"
    ) as caught:
        InvokedChat(model, retries=1).complete(ASK)
    assert "k-123" not in str(caught.value)
    assert len(model.seen) == 2


@pytest.mark.parametrize(("status", "tries"), [(401, 1), (400, 1), (429, 2), (503, 2)])
def test_a_status_decides_whether_it_passes(status: int, tries: int) -> None:
    error = RuntimeError("no")
    error.status_code = status  # type: ignore[attr-defined]
    model = Model(error)
    with pytest.raises(ChatError):
        InvokedChat(model, retries=1).complete(ASK)
    assert len(model.seen) == tries


def test_a_model_that_hangs_is_left_behind() -> None:
    gate = Event()

    class Hanging:
        def invoke(self, messages: Any) -> str:
            gate.wait(30)
            return "late"

    with pytest.raises(ChatUnavailableError, match=r"no answer within 0\.05 s"):
        InvokedChat(Hanging(), timeout=0.05, retries=0).complete(ASK)
    gate.set()


@pytest.mark.parametrize("answer", [None, 3, AIMessage(content="").model_copy(update={"content": 3})])
def test_an_answer_that_is_none(answer: Any) -> None:
    with pytest.raises(ChatError, match="gave no message"):
        InvokedChat(Model(answer)).complete(ASK)


@pytest.mark.parametrize("model", [None, "qwen3", FakeListChatModel, object()])
def test_what_is_no_chat_model_is_refused(model: Any) -> None:
    with pytest.raises(ConfigError, match="no chat model"):
        as_chat(model)


class TestFactory:
    def test_a_class_with_its_options(self) -> None:
        options = {"responses": ["hi"]}
        factory = "langchain_core.language_models:FakeListChatModel"
        with open_chat(ChatSettings(factory=factory, options=options)) as chat:
            assert chat.complete(ASK).text == "hi"

    def test_the_model_is_one_of_them(self) -> None:
        with serving("hi") as script:
            options = {"base_url": f"{script.url}/v1", "api_key": "k"}
            chosen = ChatSettings(factory="langchain_openai:ChatOpenAI", model="tiny", options=options)
            with open_chat(chosen) as chat:
                assert chat.complete(ASK).text == "hi"
        assert script.asked[0][2]["model"] == "tiny"

    @pytest.mark.parametrize(
        ("factory", "words"),
        [
            ("langchain_core", "package.module:name"),
            ("no_such_package:Model", "Install"),
            ("langchain_core.language_models:NoSuch", "Check the name"),
            ("langchain_core.language_models:FakeListChatModel", "made no chat model"),
            ("builtins:dict", "no invoke"),
        ],
    )
    def test_what_makes_none_is_told(self, factory: str, words: str) -> None:
        with pytest.raises(ConfigError, match=words):
            open_chat(ChatSettings(factory=factory))

    def test_two_models_are_refused(self) -> None:
        with pytest.raises(ConfigError, match="two chat models"):
            open_chat(ChatSettings(factory="a:b", base_url="http://localhost/v1"))

    def test_an_endpoint_needs_none(self) -> None:
        with open_chat(ChatSettings(base_url="http://localhost/v1", model="tiny")) as chat:
            assert "tiny" in chat.name
