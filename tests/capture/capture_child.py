"""Another process that captures: `end DIR FIRST COUNT` ends without closing, `hang` waits to be killed."""

from __future__ import annotations

import faulthandler
import sys
import time

import olav_core

faulthandler.dump_traceback_later(90, exit=True)  # a child that hangs says where
mode, directory, first, count = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
memory = olav_core.open(directory)
if mode == "hang":  # nothing may be stored before the kill
    memory.captures._drainer._work = lambda: None  # type: ignore[method-assign]
for n in range(first, first + count):
    assert memory.capture(tool="create_user", args={"n": n}, result="ok")
    print(n, flush=True)
if mode == "hang":
    time.sleep(600)
