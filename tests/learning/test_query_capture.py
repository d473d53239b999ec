"""Query capture: the statement that the answer rests on, in real LangChain loops and from JSON lines."""

from __future__ import annotations

import asyncio
import json
import sqlite3
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from threading import Barrier
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from langchain.agents import create_agent
from langchain_core.messages import HumanMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from olav_query_capture import QueryCapture, QueryCaptureMiddleware, RanSql, import_queries, read_statement
from olav_query_capture.capture import MAX_QUESTION_CHARS
from olav_query_capture.run import answering
from olav_query_capture.statement import UnfitError

import olav_core
from olav_core import Memory, MemoryRecord, RecordError
from olav_core.cli.main import main

sys.path.insert(0, str(Path(__file__).parents[2] / "examples"))
from scripted_model import ScriptedModel, call

BORDER = "SELECT hostname FROM devices WHERE role = 'border'"
SECRET = "hunter2-Zx81-QQ"


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with olav_core.init(tmp_path / "ws", embedder="hashing") as opened:
        yield opened


def patterns(memory: Memory) -> list[MemoryRecord]:
    return memory.list(category="query_pattern")


# --- reading SQL --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT table_name FROM information_schema.tables",
        "select * from INFORMATION_SCHEMA.COLUMNS where table_name = 'devices'",
        "SELECT name FROM sqlite_master",
        "SELECT * FROM pg_catalog.pg_tables",
        "SELECT relname FROM pg_class",
        "SELECT * FROM duckdb_columns()",
        "SELECT * FROM pragma_table_info('devices')",
        "SHOW TABLES",
        "DESCRIBE devices",
        "PRAGMA table_info(devices)",
        "EXPLAIN SELECT * FROM devices",
        "SET timezone = 'UTC'",
        "SELECT 1",
        "SELECT now()",
        "INSERT INTO devices VALUES (1)",
        "UPDATE devices SET role = 'x'",
        "WITH gone AS (DELETE FROM devices RETURNING *) SELECT * FROM gone",
        "SELECT * INTO copy FROM devices",
        "CREATE TABLE t AS SELECT * FROM devices",
        "SELECT a FROM t; SELECT b FROM u",
        "select a hotel in Paris for me please",
        "",
        "((((",
        "SELECT " + "(" * 5000,
        "x" * 30_000,
    ],
)
def test_introspection_changes_and_no_queries_are_not_kept(sql: str) -> None:
    with pytest.raises(UnfitError):
        read_statement(sql)


def test_a_statement_gives_its_tables_columns_and_template() -> None:
    one = read_statement(
        "WITH b AS (SELECT id FROM netops.devices WHERE role = 'border' -- all\n) SELECT l.peer FROM b "
        "JOIN links l ON l.dev = b.id WHERE l.speed > 10 AND l.site IN ('ams', 'fra') LIMIT 5;"
    )
    assert set(one.tables) == {"netops.devices", "links"}
    assert set(one.columns) >= {"id", "role", "peer", "speed", "site"}
    assert "border" not in one.template
    assert "'border'" in one.sql


@pytest.mark.parametrize(
    ("left", "right", "same"),
    [
        (BORDER, "select hostname\nfrom Devices where role='core' -- again\n;", True),
        ("SELECT a FROM t WHERE b IN (1, 2)", "SELECT a FROM t WHERE b IN (3, 4, 5)", True),
        ("SELECT a FROM t LIMIT 5", "SELECT a FROM t LIMIT 50", True),
        ("SELECT a FROM t WHERE b = -1", "SELECT a FROM t WHERE b = 7", True),
        (BORDER, "SELECT asn FROM devices WHERE role = 'border'", False),
        ("SELECT a FROM t WHERE b = 1", "SELECT a FROM t WHERE b > 1", False),
        ("SELECT 名称 FROM 设备 WHERE 角色 = '核心'", "SELECT 名称 FROM 设备 WHERE 角色 = '接入'", True),
    ],
)
def test_one_template_is_one_query_whatever_its_values(left: str, right: str, same: bool) -> None:
    assert (read_statement(left).template == read_statement(right).template) is same


def test_an_unknown_dialect_is_refused_with_those_there_are(memory: Memory) -> None:
    with pytest.raises(RecordError, match="duckdb"):
        QueryCapture(memory, dialect="duckdbb")
    assert read_statement("SELECT TOP 5 [a b] FROM [my table]", "mssql").tables == ("my table",)


@settings(max_examples=60, deadline=None)
@given(sql=st.text(max_size=120))
def test_any_text_is_a_statement_or_unfit(sql: str) -> None:
    with suppress(UnfitError):
        assert read_statement(sql).tables


# --- which statement the answer rests on --------------------------------------------------------------


def ran(sql: str, result: Any = "", error: str = "") -> RanSql:
    return RanSql(sql=sql, result=result, error=error)


DUMP = ran("SELECT * FROM devices", [{"hostname": f"r{n}", "role": "access"} for n in range(300)])
ANSWERED = ran(BORDER, [{"hostname": "r7"}, {"hostname": "r9"}])


@pytest.mark.parametrize(
    ("statements", "answer", "expected"),
    [
        ([DUMP, ANSWERED], "The border routers are r7 and r9.", BORDER),
        ([ANSWERED, ran("SELECT count(*) FROM audit_log", "57")], "r7 and r9", BORDER),
        ([ANSWERED, ran("SELECT * FROM devices LIMIT 1", [{"hostname": "r7"}])], "它们是 r7、r9。", BORDER),
        ([ran("SELECT host FROM devices", error="no such column: host"), ANSWERED], "r7, r9", BORDER),
        ([ANSWERED, ran(BORDER + " AND asn = 1", error="timeout")], "r7, r9", BORDER),
        ([ANSWERED, ran("PRAGMA table_info(devices)", "r7 r9")], "r7, r9", BORDER),
        ([DUMP, ran(BORDER, [])], "There are none.", BORDER),
        ([DUMP, ANSWERED], "", BORDER),
    ],
    ids=["not the most rows", "a later check", "a later sample", "after a failure", "before a failure",
         "introspection", "empty result", "no answer"],
)  # fmt: skip
def test_the_last_statement_that_the_answer_rests_on(
    statements: list[RanSql], answer: str, expected: str
) -> None:
    found = answering(statements, "Which are the border routers?", answer)
    assert found is not None
    assert found[0].sql == expected


def test_nothing_answers_when_all_failed_or_looked_at_the_schema() -> None:
    assert answering([ran(BORDER, error="no"), ran("SHOW TABLES", "devices")], "q", "a") is None


# --- rows ---------------------------------------------------------------------------------------------


def test_a_pair_is_stored_with_its_names_and_literals(memory: Memory) -> None:
    capture = QueryCapture(memory, agent="netops", dialect="duckdb")
    done = capture.store("列出 border 角色的设备", f"{BORDER};")
    assert done.outcome == "stored"
    (row,) = patterns(memory)
    assert (row.scope, row.origin, row.tags) == ("netops", "agent", ("devices", "hostname", "role"))
    assert row.metadata["sql"] == BORDER
    assert row.metadata["dialect"] == "duckdb"
    block = memory.recall("哪些设备是 border？", agent="netops").block
    assert "role = 'border'" in block


def test_the_same_template_is_one_row_that_keeps_its_wordings_and_grows_surer(memory: Memory) -> None:
    capture = QueryCapture(memory)
    first = capture.store("Which are the border routers?", BORDER, use="r1")
    again = capture.store("列出核心设备", "SELECT hostname FROM devices WHERE role = 'core'", use="r2")
    assert (first.outcome, again.outcome) == ("stored", "confirmed")
    assert first.id == again.id
    assert again.confidence > first.confidence
    (row,) = patterns(memory)
    assert row.metadata["question"] == "列出核心设备"
    assert "'core'" in row.metadata["sql"]
    assert row.metadata["wordings"] == ["Which are the border routers?"]
    assert capture.store("列出核心设备", BORDER, use="r2").outcome == "known"
    assert patterns(memory)[0].metadata["uses"] == 2


def test_uses_that_come_at_once_are_all_counted(memory: Memory) -> None:
    """Two handles of one workspace, as two processes have; four stores and four failures at once."""
    QueryCapture(memory).store("Which are the border routers?", BORDER, use="first")
    start = Barrier(8)

    def tell(number: int, opened: Memory) -> None:
        capture = QueryCapture(opened)
        start.wait()
        if number % 2:
            capture.store("Which are the border routers?", BORDER, use=f"good {number}")
        else:
            capture.failed(BORDER, "no such table", use=f"bad {number}")

    with olav_core.open(memory.workspace.root) as other, ThreadPoolExecutor(8) as pool:
        list(pool.map(tell, range(8), [memory, memory, other, other] * 2))
    memory.store.refresh()
    (row,) = patterns(memory)
    assert (row.metadata["uses"], row.metadata["failures"]) == (5, 4)
    assert len(row.metadata["seen"]) == 9


def test_an_error_on_reuse_lowers_it_until_it_is_not_shown(memory: Memory) -> None:
    capture = QueryCapture(memory)
    id = capture.store("Which are the border routers?", BORDER).id
    sure = capture.confirm(id).confidence
    assert BORDER in memory.recall("Which are the border routers?").block
    for _ in range(5):
        worse = capture.failed(BORDER.replace("border", "core"), "no such table: devices")
        assert worse.confidence < sure
        sure = worse.confidence
    assert patterns(memory)[0].metadata["last_error"] == "no such table: devices"
    recall = memory.recall("Which are the border routers?")
    assert recall.items == ()
    assert [trace.reason.split(":")[0] for trace in recall.trace] == ["current"]
    assert capture.confirm(id).confidence > sure


def test_a_failure_of_what_is_not_known_leaves_nothing(memory: Memory) -> None:
    assert QueryCapture(memory).failed(BORDER, "no such table").outcome == "skipped"
    assert patterns(memory) == []


def test_secrets_and_recalled_blocks_are_not_stored(memory: Memory) -> None:
    block = '<relevant-memories>\n  <memory id="x">old</memory>\n</relevant-memories>\n'
    capture = QueryCapture(memory)
    capture.store(
        f"{block}who logs in with password={SECRET}?", f"SELECT user FROM logins WHERE password = '{SECRET}'"
    )
    capture.failed("SELECT user FROM logins WHERE password = 'x'", f"login failed, password={SECRET}")
    (row,) = patterns(memory)
    stored = json.dumps(dict(row.metadata), ensure_ascii=False) + row.text + row.search_text
    assert SECRET not in stored
    assert "relevant-memories" not in stored
    assert "old" not in row.text


@pytest.mark.parametrize("left", range(0, 60, 6))
def test_a_long_question_is_masked_before_it_is_cut(memory: Memory, left: int) -> None:
    url = f"postgresql://admin:{SECRET}@db.example/x"
    question = "查" * (MAX_QUESTION_CHARS - left) + f" {url} 为何连不上"
    QueryCapture(memory).store(question, BORDER)
    (row,) = patterns(memory)
    assert SECRET not in row.text + row.search_text + json.dumps(dict(row.metadata), ensure_ascii=False)
    assert len(row.text) <= MAX_QUESTION_CHARS + 2


def test_what_a_person_forgot_stays_away(memory: Memory) -> None:
    capture = QueryCapture(memory)
    memory.forget(capture.store("Which are the border routers?", BORDER).id)
    assert capture.store("Which are the border routers?", BORDER).outcome == "skipped"
    assert patterns(memory) == []


def test_one_scope_does_not_see_anothers(memory: Memory) -> None:
    QueryCapture(memory, agent="user_1").store("Which are the border routers?", BORDER)
    QueryCapture(memory, agent="userA1").store("Which are the border routers?", BORDER)
    assert sorted(row.scope for row in patterns(memory)) == ["userA1", "user_1"]


# --- in an agent --------------------------------------------------------------------------------------


@pytest.fixture
def db_query(tmp_path: Path) -> Any:
    connection = sqlite3.connect(tmp_path / "net.db", check_same_thread=False)
    connection.execute("CREATE TABLE devices (hostname TEXT, role TEXT)")
    connection.executemany(
        "INSERT INTO devices VALUES (?, ?)",
        [(f"r{n}", "border" if n in (7, 9) else "access") for n in range(40)],
    )

    @tool
    def db_query(sql: str) -> str:
        """Run SQL."""
        try:
            return json.dumps(connection.execute(sql).fetchall())
        except sqlite3.Error as error:
            return f"Error: {error}"

    return db_query


SCRIPT = [
    call("db_query", sql="SELECT name FROM sqlite_master"),
    call("db_query", sql="SELECT host FROM devices"),
    call("db_query", sql="SELECT * FROM devices"),
    call("db_query", sql=BORDER),
    "The border routers are r7 and r9.",
]


@pytest.mark.parametrize("how", ["invoke", "ainvoke", "stream"])
def test_a_turn_of_an_agent_leaves_the_query_that_answered(memory: Memory, db_query: Any, how: str) -> None:
    capture = QueryCaptureMiddleware(memory, agent="netops", dialect="sqlite")
    agent = create_agent(ScriptedModel(script=list(SCRIPT)), tools=[db_query], middleware=[capture])
    given: Any = {"messages": [HumanMessage("Which are the border routers?")]}
    if how == "stream":
        list(agent.stream(given))
    else:
        _ = agent.invoke(given) if how == "invoke" else asyncio.run(agent.ainvoke(given))
    assert capture.failures == 0, capture.last_error
    (row,) = patterns(memory)
    assert (row.metadata["question"], row.metadata["sql"]) == ("Which are the border routers?", BORDER)
    assert [done.outcome for done in capture.captured] == ["skipped", "stored"]


def test_two_turns_of_a_thread_count_each_use_once_and_an_error_on_reuse(
    memory: Memory, db_query: Any
) -> None:
    core = BORDER.replace("border", "access")
    bad = BORDER.replace("'border'", "'x' AND")
    script = [
        *SCRIPT,
        call("db_query", sql=core),
        "They are r0, r1 and 36 others.",
        call("db_query", sql=bad),
        "no",
    ]
    capture = QueryCaptureMiddleware(memory, dialect="sqlite", tools={"db_query": "sql"})
    agent = create_agent(
        ScriptedModel(script=script), tools=[db_query], middleware=[capture], checkpointer=InMemorySaver()
    )
    config: Any = {"configurable": {"thread_id": "t"}}
    for text in ("Which are the border routers?", "哪些是接入设备？", "and x?"):
        agent.invoke({"messages": [HumanMessage(text)]}, config)
    (row,) = patterns(memory)
    assert (row.metadata["uses"], row.metadata["failures"]) == (2, 0)  # the last is no SQL at all
    assert row.metadata["wordings"] == ["Which are the border routers?"]


def test_a_known_query_that_fails_when_an_agent_reuses_it_is_counted(memory: Memory, db_query: Any) -> None:
    capture = QueryCaptureMiddleware(memory, dialect="sqlite")
    script = [
        *SCRIPT,
        call("db_query", sql="ALTER TABLE devices RENAME TO gear"),
        call("db_query", sql=BORDER),
        "no",
    ]
    agent = create_agent(ScriptedModel(script=script), tools=[db_query], middleware=[capture])
    for text in ("Which are the border routers?", "once more"):
        agent.invoke({"messages": [HumanMessage(text)]})
    (row,) = patterns(memory)
    assert (row.metadata["uses"], row.metadata["failures"]) == (1, 1)
    assert "no such table" in row.metadata["last_error"]
    assert row.metadata["question"] == "Which are the border routers?"


def test_a_run_without_an_answer_and_a_tool_that_is_no_database_leave_nothing(memory: Memory) -> None:
    @tool
    def web_search(query: str) -> str:
        """Search."""
        return "found"

    capture = QueryCaptureMiddleware(memory)
    script = [call("web_search", query="select a hotel in Paris"), RuntimeError("away")]
    agent = create_agent(ScriptedModel(script=script), tools=[web_search], middleware=[capture])
    with pytest.raises(RuntimeError):
        agent.invoke({"messages": [HumanMessage("find one")]})
    agent = create_agent(ScriptedModel(script=script[:1]), tools=[web_search], middleware=[capture])
    agent.invoke({"messages": [HumanMessage("find one")]})
    assert (patterns(memory), capture.failures) == ([], 0)


def test_a_capture_that_fails_never_fails_the_run(
    memory: Memory, db_query: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*args: Any, **options: Any) -> Any:
        raise RuntimeError(f"quotes {SECRET}")

    monkeypatch.setattr(memory, "write", broken)
    capture = QueryCaptureMiddleware(memory)
    agent = create_agent(ScriptedModel(script=list(SCRIPT)), tools=[db_query], middleware=[capture])
    state = agent.invoke({"messages": [HumanMessage("Which are the border routers?")]})
    assert state["messages"][-1].content.startswith("The border routers")
    assert (capture.failures, capture.last_error) == (1, "RuntimeError")


# --- JSON lines and commands --------------------------------------------------------------------------


def lines(path: Path, *values: Any) -> Path:
    path.write_text("\n".join(v if isinstance(v, str) else json.dumps(v) for v in values), "utf-8")
    return path


def test_pairs_and_runs_are_imported_once(memory: Memory, tmp_path: Path) -> None:
    file = lines(
        tmp_path / "runs.jsonl",
        {"question": "Which are the border routers?", "sql": BORDER, "agent": "netops"},
        {
            "question": "有多少条告警？",
            "answer": "一共 42 条。",
            "agent": "netops",
            "dialect": "duckdb",
            "statements": [
                {"sql": "SHOW TABLES", "result": ["alarms"]},
                {"sql": "SELECT n FROM alarms", "error": "no column n"},
                {"sql": "SELECT count(*) FROM alarms", "result": [[42]]},
            ],
        },
        {"question": "what tables are there?", "sql": "SHOW TABLES"},
    )
    seen = import_queries(memory, file, dry_run=True).to_dict()
    assert (seen["stored"], seen["skipped"], patterns(memory)) == (2, 1, [])
    done = import_queries(memory, file).to_dict()
    assert (done["stored"], done["skipped"], done["faults"]) == (2, 2, [])
    assert {row.metadata["sql"] for row in patterns(memory)} == {BORDER, "SELECT count(*) FROM alarms"}
    before = {row.id: dict(row.metadata) for row in patterns(memory)}
    assert import_queries(memory, file).to_dict()["known"] == 2
    assert {row.id: dict(row.metadata) for row in patterns(memory)} == before


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("[1]", "an object is needed"),
        ("{", "not JSON"),
        ({"sql": BORDER}, "'question' is missing"),
        ({"question": "q"}, "give 'sql'"),
        ({"question": "q", "sql": BORDER, "statements": []}, "one of them"),
        ({"question": "q", "sgl": BORDER}, "Did you mean 'sql'"),
        ({"question": "q", "sql": 7}, "holds a int"),
        ({"question": "q", "statements": [{"result": 1}]}, "statements[0].sql"),
        ({"question": "q", "sql": BORDER, "dialect": "klingon"}, "unknown"),
        ({"question": "q", "sql": BORDER, "scope": " x"}, "scope"),
    ],
)
def test_a_faulty_line_is_told_and_keeps_no_other_out(
    memory: Memory, tmp_path: Path, line: Any, said: str
) -> None:
    report = import_queries(memory, lines(tmp_path / "q.jsonl", line, {"question": "ok?", "sql": BORDER}))
    (fault,) = report.faults
    assert (fault.line, said in fault.message) == (1, True), fault
    assert len(patterns(memory)) == 1


@pytest.fixture
def cli(memory: Memory) -> Callable[..., Any]:
    def run(*args: object, code: int = 0) -> Any:
        line = ["--workspace", str(memory.workspace.root), *map(str, args), "--json"]
        result = CliRunner().invoke(main, line, prog_name="olav")
        assert result.exit_code == code, (result.stdout, result.stderr, result.exception)
        return json.loads(result.stdout)

    return run


def test_the_commands(memory: Memory, cli: Callable[..., Any], tmp_path: Path) -> None:
    file = lines(tmp_path / "q.jsonl", {"question": "Which are the border routers?", "sql": BORDER}, "{")
    assert cli("queries", "import", file, code=1)["stored"] == 1
    (item,) = cli("queries", "list", "--table", "devices")["items"]
    assert (item["sql"], item["uses"], item["columns"]) == (BORDER, 1, ["hostname", "role"])
    assert cli("queries", "list", "--table", "links")["items"] == []
    better = cli("queries", "confirm", item["id"])["confidence"]
    assert better > item["confidence"]
    assert cli("queries", "fail", item["id"], "--error", "no such table")["confidence"] < better
    shown = CliRunner().invoke(main, ["-w", str(memory.workspace.root), "queries", "list"])
    assert BORDER in " ".join(shown.stdout.split())


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(outcomes=st.lists(st.booleans(), min_size=1, max_size=12))
def test_confidence_moves_with_every_use(
    outcomes: list[bool], tmp_path_factory: pytest.TempPathFactory
) -> None:
    with olav_core.init(tmp_path_factory.mktemp("q"), embedder="hashing") as memory:
        capture = QueryCapture(memory)
        last = capture.store("q?", BORDER)
        for number, good in enumerate(outcomes):
            use = f"u{number}"
            now = capture.confirm(last.id, use=use) if good else capture.fail(last.id, "no", use=use)
            assert (now.confidence > last.confidence) is good
            assert 0 < now.confidence < 1
            last = now
        (row,) = patterns(memory)
        assert row.metadata["uses"] + row.metadata["failures"] == len(outcomes) + 1
