"""The asynchronous twins of `Memory`: same signatures, same results, and the event loop goes on."""

from __future__ import annotations

import asyncio
import inspect
import threading

import pytest

from olav_core import Memory
from olav_core.async_twin import async_twin

TWINS = ["recall", "search", "context", "enrich", "remember", "forget", "get", "list", "capture"]


@pytest.mark.parametrize("name", TWINS)
def test_a_twin_has_the_signature_of_its_method(name: str) -> None:
    method, twin = getattr(Memory, name), getattr(Memory, f"a{name}")
    assert inspect.iscoroutinefunction(twin)
    assert inspect.signature(twin) == inspect.signature(method)
    assert twin.__qualname__ == f"Memory.a{name}"
    assert f"`{name}`" in (twin.__doc__ or "")


class Slow:
    def __init__(self) -> None:
        self.entered, self.released = threading.Event(), threading.Event()

    def work(self, text: str, *, times: int = 1) -> str:
        self.entered.set()
        if not self.released.wait(30):
            raise TimeoutError("the event loop stood still")
        return text * times

    awork = async_twin(work)


class Other(Slow):
    def work(self, text: str, *, times: int = 1) -> str:
        return f"other {text}"


def test_the_event_loop_goes_on_while_the_method_runs() -> None:
    slow = Slow()

    async def main() -> str:
        task = asyncio.create_task(slow.awork("是", times=2))
        while not slow.entered.is_set():
            await asyncio.sleep(0)
        slow.released.set()  # only a loop that is free gets here
        return await task

    assert asyncio.run(main()) == "是是"


def test_the_twin_calls_what_a_subclass_makes_of_the_method() -> None:
    assert asyncio.run(Other().awork("x")) == "other x"


def test_an_exception_reaches_who_awaits() -> None:
    slow = Slow()
    slow.released.set()
    with pytest.raises(TypeError):
        asyncio.run(slow.awork("x", times="y"))  # type: ignore[arg-type]
