import threading

import pytest

from olav_core.errors import StoreError
from olav_core.store.lock import LOST_RACES, WriteLock, local_path


def test_remote_uris_have_no_lock():
    assert WriteLock.beside("s3://bucket/memory.lance").path is None
    assert local_path("file:///a/b").as_posix() == "/a/b"
    with WriteLock(None).exclusive(), WriteLock(None).shared():
        pass


def test_writers_share_and_one_thread_may_nest(tmp_path):
    lock, other = (WriteLock.beside(str(tmp_path / "memory.lance")) for _ in range(2))
    third = WriteLock.beside(str(tmp_path / "memory.lance"))
    with lock.shared(), lock.shared(), other.shared():  # noqa: SIM117
        with pytest.raises(StoreError, match="another process holds"), third.exclusive(wait=False):
            pass
    with other.exclusive(wait=False), other.shared():
        pass


def test_an_exclusive_holder_is_not_starved_and_keeps_writers_out(tmp_path):
    lock = WriteLock(tmp_path / "lock")
    inside, order = threading.Event(), []
    stop = threading.Event()

    def writer() -> None:
        while not stop.is_set():
            with lock.shared():
                inside.set()
                stop.wait(0.002)

    threads = [threading.Thread(target=writer) for _ in range(3)]
    for thread in threads:
        thread.start()
    inside.wait(10)
    with lock.exclusive():
        order.append("alone")
        blocked = threading.Thread(target=_enter, args=(lock, order))
        blocked.start()
        blocked.join(0.1)
        assert order == ["alone"]
    blocked.join(10)
    stop.set()
    for thread in threads:
        thread.join()
    assert order == ["alone", "after"]


def _enter(lock: WriteLock, order: list[str]) -> None:
    with lock.shared():
        order.append("after")


def test_exclusive_inside_shared_is_refused_rather_than_a_deadlock(tmp_path):
    lock = WriteLock(tmp_path / "lock")
    with lock.shared(), pytest.raises(StoreError, match="already writes"), lock.exclusive():
        pass


def test_a_directory_without_rights_is_a_store_error(tmp_path):
    lock = WriteLock(tmp_path / "none" / "lock")
    with pytest.raises(StoreError, match="cannot be opened"), lock.shared():
        pass


def test_a_write_that_kept_losing_gets_its_turn_alone(tmp_path):
    lock, other = WriteLock(tmp_path / "lock"), WriteLock(tmp_path / "lock")
    with lock.turn(0), other.turn(0):
        pass
    with lock.turn(LOST_RACES), pytest.raises(StoreError, match="another process holds"):  # noqa: SIM117
        with other.exclusive(wait=False):
            pass
    with lock.shared(), lock.turn(LOST_RACES):
        assert lock.held
    assert not lock.held
