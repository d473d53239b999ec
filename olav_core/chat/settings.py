"""Which chat model learns, and how patiently it is asked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from attrs import field, frozen

from olav_core.host.structuring import Range


@frozen(kw_only=True)
class ChatSettings:
    """The chat model. `base_url`: an OpenAI-style root such as `http://localhost:11434/v1`; one that ends in
    `/api` is asked in Ollama's own protocol. `api_key_env`: the variable that holds the key.
    `timeout`: seconds a request. `retries`: further tries of a request that met a busy or absent server.
    `options`: further fields of a request, null leaves one out.

    `factory` instead of `base_url`: `package.module:name` of a LangChain chat model or of what makes one,
    such as `langchain_ollama:ChatOllama`; it is called with `options`, and with `model` when that is set.
    """

    base_url: str | None = None
    model: str | None = None
    api_key_env: str = "OPENAI_API_KEY"
    timeout: Annotated[float, Range(0, 3600, above=True)] = 120.0
    retries: Annotated[int, Range(0, 10)] = 3
    max_tokens: Annotated[int, Range(1)] = 2048
    temperature: Annotated[float, Range(0, 2)] = 0.0
    factory: str | None = None
    options: Mapping[str, Any] = field(factory=dict)

    @property
    def chosen(self) -> bool:
        """Whether any chat model is set."""
        return bool(self.factory or self.base_url or self.model)


@frozen(kw_only=True)
class LearningSettings:
    """What is learnt from. `min_samples`: operations of one tool and scope that are worth a pattern.
    `window_days`: how far back events count. `runs`: files of run records, from the workspace on, `*`
    allowed, that `olav learn run` reads. `review`: patterns and reflections wait as drafts for a person.
    `draft_hours`: how long a proposal waits for a person.
    `draft_categories`: what a conversation may propose; unset, the categories whose drafts become files."""

    min_samples: Annotated[int, Range(2)] = 5
    window_days: Annotated[float, Range(0, 100_000, above=True)] = 90.0
    runs: tuple[str, ...] = ()
    review: bool = False
    draft_hours: Annotated[float, Range(0, 10_000, above=True)] = 24.0
    draft_categories: tuple[str, ...] | None = None
