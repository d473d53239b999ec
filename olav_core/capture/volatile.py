"""What differs between two runs of the same operation: times, durations, ids of requests."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Final

_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


#: Arguments that name one call and never what it does.
CALL_KEYS: Final = _words(
    "request_id trace_id span_id correlation_id idempotency_key idempotency_token client_token"
    " client_request_id nonce tool_call_id call_id x_request_id traceparent"
)
#: Arguments that may hold the moment of the call; left out when they do.
NOW_KEYS: Final = _words("timestamp ts now current_time requested_at client_time 时间戳")
NOW: Final = timedelta(minutes=5)
#: Fields of results that differ from run to run.
_RESULT_KEYS: Final = CALL_KEYS | _words(
    "timestamp ts time date datetime created_at updated_at modified_at started_at finished_at"
    " completed_at ended_at start_time end_time generated_at last_modified last_updated expires_at"
    " elapsed elapsed_ms elapsed_time elapsed_seconds duration duration_ms duration_s duration_seconds"
    " took took_ms latency latency_ms runtime execution_time processing_time time_taken response_time"
    " etag session_id run_id invocation_id uptime 时间 时间戳 创建时间 更新时间 完成时间 耗时 用时 请求id"
    " 请求编号 追踪id 会话id"
)
_VOLATILE = re.compile(
    r"\d{4}[-/.年]\d{1,2}[-/.月]\d{1,2}日?(?:[T\s]*\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?)?\s*(?:Z\b|UTC|"
    r"GMT|[+-]\d{2}:?\d{2})?|\b(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)\w*,?\s+)?(?:Jan|Feb|Mar|Apr|May|Jun|"
    r"Jul|Aug|Sep|Oct|Nov|"
    r"Dec)\w*\.?\s+\d{1,2}(?:,?\s+\d{4})?(?:\s+\d{2}:\d{2}:\d{2}(?:\.\d+)?)?(?:\s+\d{4})?|"
    r"\b\d{1,2}:\d{2}:\d{2}(?:[.,]\d+)?\b|\b1[5-9]\d{8}(?:\d{3})?(?:\.\d+)?\b|"
    r"\b[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}\b|\b(?:request|req|"
    r"trace|span|correlation|session|run)[ _-]?(?:id|no)?\s*[:=#]\s*[\w-]{4,64}|请求(?:编号|ID|id|"
    r"号)?\s*[:：=]?\s*[\w-]{6,64}|\b\d+(?:\.\d+)?\s?(?:ns|µs|us|ms|milliseconds?|msecs?|s|secs?|"
    r"seconds?|m|mins?|minutes?|hours?)\b|\d+(?:\.\d+)?\s*(?:毫秒|微秒|秒|分钟)",
    re.IGNORECASE,
)


def lasting_args(args: Mapping[str, Any], when: datetime) -> dict[str, Any]:
    """Return the arguments that say what the call does: without ids of the call and without its moment."""
    return {
        key: value
        for key, value in args.items()
        if (name := _name(key)) not in CALL_KEYS and not (name in NOW_KEYS and _is_near(value, when))
    }


def same_result(one: Any, other: Any) -> bool:
    """Whether two results say the same, times and ids of the runs left out."""
    return one == other or _canonical(one) == _canonical(other)


def _canonical(value: Any) -> str:
    return json.dumps(_lasting(value), sort_keys=True, ensure_ascii=False)


def _lasting(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _lasting(item) for key, item in value.items() if _name(key) not in _RESULT_KEYS}
    if isinstance(value, list):
        return [_lasting(item) for item in value]
    if isinstance(value, str):
        return _VOLATILE.sub("·", value)
    return value


def _name(key: Any) -> str:
    return _CAMEL.sub("_", str(key)).lower().replace("-", "_")


def _is_near(value: Any, when: datetime) -> bool:
    try:
        if isinstance(value, str) and not value.strip().isdecimal():
            moment = datetime.fromisoformat(value.strip())
            moment = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment
        else:
            number = float(value)
            moment = datetime.fromtimestamp(number / 1000 if number > 1e11 else number, UTC)
    except (ValueError, TypeError, OverflowError, OSError):
        return False
    return abs(moment - when) <= NOW
