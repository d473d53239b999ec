"""describe_table: what a table holds, from real SQLite and DuckDB files; bounded, masked, never a write."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from pathlib import Path
from textwrap import dedent
from typing import Any

import duckdb
import jsonschema
import pytest
from click.testing import CliRunner
from langchain.agents import create_agent
from olav_tables import TABLE_SCHEMA, TableDescriber, describe_table_tool, prime_schema
from olav_tables.database import TableError, open_database
from olav_tables.description import MAX_CELL_CHARS
from olav_tables.sql_database import SqlDatabase
from scripted_model import ScriptedModel, call

import olav_core
from olav_core import OlavError
from olav_core.cli.main import main

SECRET = "hunter2-Zx81-QQ"


@pytest.fixture
def sqlite_file(tmp_path: Path) -> Path:
    path = tmp_path / "网络 net?#.db"
    connection = sqlite3.connect(path)
    connection.executescript(
        """
        CREATE TABLE sites (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
        CREATE TABLE devices (
            id INTEGER PRIMARY KEY, hostname TEXT NOT NULL, role TEXT DEFAULT 'access',
            site_id INTEGER REFERENCES sites(id), password TEXT, "select" REAL, note TEXT, raw BLOB);
        CREATE TABLE 设备 (名称 TEXT, 角色 TEXT);
        CREATE VIEW borders AS SELECT * FROM devices WHERE role = 'border';
        CREATE VIEW broken AS SELECT no_such FROM devices;
        CREATE VIEW endless AS
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n;
        INSERT INTO sites VALUES (1, 'ams'), (2, 'fra');
        INSERT INTO 设备 VALUES ('核心交换机', '核心'), ('接入交换机', '接入');
        """
    )
    connection.executemany(
        "INSERT INTO devices (hostname, role, site_id, password, note, raw) VALUES (?, ?, ?, ?, ?, ?)",
        [
            (f"r{n}", "border" if n % 5 == 0 else "access", n % 2 + 1, SECRET, "x" * 500, b"\x00" * 9)
            for n in range(200)
        ],
    )
    connection.commit()
    connection.close()
    return path


@pytest.fixture
def duckdb_file(tmp_path: Path) -> Path:
    path = tmp_path / "net.duckdb"
    connection = duckdb.connect(str(path))
    connection.execute("CREATE SCHEMA netops")
    connection.execute(
        "CREATE TABLE netops.v_devices (hostname VARCHAR PRIMARY KEY, role VARCHAR, asn INTEGER)"
    )
    connection.execute(
        "INSERT INTO netops.v_devices SELECT 'r' || i, CASE WHEN i % 7 = 0 THEN 'border' ELSE 'access' END, "
        "65000 + i % 3 FROM range(500) t(i)"
    )
    connection.execute("COMMENT ON COLUMN netops.v_devices.role IS 'border or access'")
    connection.close()
    return path


def test_columns_types_keys_rows_values_and_samples_of_sqlite(sqlite_file: Path) -> None:
    found = TableDescriber(str(sqlite_file)).describe("devices")
    assert (found.table, found.kind, found.rows, found.notes) == ("devices", "table", 200, ())
    columns = {column.name: (column.type, column.nullable, column.default) for column in found.columns}
    assert columns["hostname"] == ("TEXT", False, "")
    assert columns["role"] == ("TEXT", True, "'access'")
    assert found.keys.primary == ("id",)
    assert found.keys.foreign == ((("site_id",), "sites", ("id",)),)
    assert TableDescriber(str(sqlite_file)).describe("sites").keys.unique == (("name",),)
    values = {part.column: part for part in found.distributions}
    assert values["role"].values == {"access": 160, "border": 40}
    assert values["hostname"].values == {}  # every row has its own
    assert values["select"].nulls == 200
    assert len(found.sample) == 5
    assert found.sample[0]["note"] == "x" * 80 + "… (500 characters)"
    assert found.sample[0]["raw"] == "(9 bytes)"


def test_columns_types_keys_rows_values_and_samples_of_duckdb(duckdb_file: Path) -> None:
    found = TableDescriber(f"duckdb:///{duckdb_file}").describe("v_devices")
    assert (found.table, found.rows, found.keys.primary) == ("netops.v_devices", 500, ("hostname",))
    assert {column.name: column.type for column in found.columns}["asn"] == "INTEGER"
    assert {column.name: column.comment for column in found.columns}["role"] == "border or access"
    assert {part.column: part.values for part in found.distributions}["role"] == {"access": 428, "border": 72}


@pytest.mark.parametrize("name", ["DEVICES", '"devices"', " devices "])
def test_a_name_is_found_whatever_its_case_and_quotes(sqlite_file: Path, name: str) -> None:
    assert TableDescriber(str(sqlite_file)).describe(name).table == "devices"


def test_chinese_names_and_values(sqlite_file: Path) -> None:
    text = TableDescriber(str(sqlite_file))("设备")
    assert "名称 TEXT" in text
    assert "核心交换机" in text
    assert "设备" in TableDescriber(str(sqlite_file))("设备表")  # did you mean


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("device", "Did you mean devices"),
        ("devices; DROP TABLE sites", "there is no table"),
        ("x' OR 1=1 --", "there is no table"),
        ("*", "There are:"),
    ],
)
def test_a_wrong_name_says_what_there_is_and_touches_nothing(sqlite_file: Path, name: str, said: str) -> None:
    before = sqlite_file.read_bytes()
    describer = TableDescriber(str(sqlite_file))
    with pytest.raises(TableError, match=said):
        describer.describe(name)
    assert said in describer(name)
    assert sqlite_file.read_bytes() == before


@pytest.mark.parametrize("kind", ["sqlite", "duckdb"])
@pytest.mark.parametrize(
    "write",
    [
        "INSERT INTO t VALUES (1)",
        "DELETE FROM t",
        "DROP TABLE t",
        "CREATE TABLE u (a INTEGER)",
        "UPDATE t SET a = 2",
        "WITH x AS (SELECT 1) INSERT INTO t SELECT * FROM x",
        "ATTACH 'other.db' AS other",
        "PRAGMA user_version = 7",
    ],
)
def test_a_write_is_refused_by_the_connection_itself(tmp_path: Path, kind: str, write: str) -> None:
    path = tmp_path / f"t.{kind}"
    maker: Any = sqlite3 if kind == "sqlite" else duckdb
    made = maker.connect(str(path))
    made.execute("CREATE TABLE t (a INTEGER)")
    made.execute("INSERT INTO t VALUES (1)")
    made.commit()
    made.close()
    before = path.read_bytes()
    database: Any = open_database(str(path))
    with pytest.raises(Exception, match=r".") as refused:
        database.execute(write)
    assert refused.type.__name__ not in ("AttributeError", "TypeError")
    assert database.execute("SELECT count(*), min(a) FROM t") == [(1, 1)]
    database.close()
    assert path.read_bytes() == before
    assert not (tmp_path / "other.db").exists()


def test_a_write_that_names_no_write_is_stopped_by_the_file_mode(sqlite_file: Path) -> None:
    """The lock below the one on first words: the file itself is open for reading only."""
    database: Any = open_database(str(sqlite_file))
    raw = database._connection.connection.driver_connection
    with pytest.raises(sqlite3.OperationalError, match="readonly"):
        raw.execute("INSERT INTO sites VALUES (3, 'muc')")
    database.close()


def test_secrets_are_masked_wherever_they_stand(sqlite_file: Path) -> None:
    found = TableDescriber(str(sqlite_file)).describe("devices")
    assert SECRET not in found.to_text(100_000)
    assert SECRET not in json.dumps(found.to_dict())
    assert "password" in found.to_text()


def test_a_long_cell_is_masked_before_it_is_cut(tmp_path: Path) -> None:
    part = f"postgresql://admin:{SECRET}"
    cell = "x " * ((MAX_CELL_CHARS - len(part)) // 2) + f"{part}@db.example/x"
    path = tmp_path / "cells.db"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE links (note TEXT)")
    connection.executemany("INSERT INTO links VALUES (?)", [(cell,)] * 3)
    connection.commit()
    connection.close()
    found = TableDescriber(str(path)).describe("links")
    told = found.to_text(100_000) + json.dumps(found.to_dict())
    assert "postgresql" in told
    assert SECRET not in told


def test_a_password_of_the_url_is_never_told(tmp_path: Path) -> None:
    for url in (
        f"sqlite+nodriver://me:{SECRET}@h/x",
        f"nonsense://me:{SECRET}@127.0.0.1/x",
        f"me:{SECRET}@h",
    ):
        answer = TableDescriber(url)("t")
        assert answer.startswith("error: "), answer
        assert SECRET not in answer


def test_what_is_not_known_in_time_is_left_out_and_told(sqlite_file: Path) -> None:
    found = TableDescriber(str(sqlite_file), timeout=3).describe("endless")
    assert [column.name for column in found.columns] == ["i"]
    assert found.rows is None
    assert any("within 3 s" in note for note in found.notes)


def test_a_database_that_never_answers_does_not_hold_up_the_end_of_the_process() -> None:
    script = """
    import threading
    from olav_tables import TableDescriber, describer
    describer.open_database = lambda url: threading.Event().wait()
    print(TableDescriber("sqlite:///x.db", timeout=0.2)("devices"))
    """
    done = subprocess.run(
        [sys.executable, "-c", dedent(script)], capture_output=True, text=True, timeout=120, check=True
    )
    assert "no answer about 'devices' within 0.2 s" in done.stdout


def test_a_broken_view_says_so(sqlite_file: Path) -> None:
    answer = TableDescriber(str(sqlite_file))("broken")
    assert "broken" in answer
    assert "no_such" in answer  # the driver's own words: no such column


def test_the_text_is_bounded_whatever_the_table(tmp_path: Path) -> None:
    path = tmp_path / "wide.db"
    connection = sqlite3.connect(path)
    connection.execute(f"CREATE TABLE wide ({', '.join(f'column_{n} TEXT' for n in range(400))})")
    connection.execute(f"INSERT INTO wide VALUES ({', '.join('?' * 400)})", ["y" * 900] * 400)
    connection.commit()
    connection.close()
    found = TableDescriber(str(path)).describe("wide")
    assert len(found.columns) == 100
    assert any("300 of 400 columns" in note for note in found.notes)
    assert len(found.to_text()) <= 4_100
    assert len(TableDescriber(str(path), max_chars=500)("wide")) <= 560


def test_the_function_schema_is_a_json_schema_of_the_callable(duckdb_file: Path) -> None:
    jsonschema.Draft202012Validator.check_schema(TABLE_SCHEMA["parameters"])
    args = {"name": "netops.v_devices"}
    jsonschema.validate(args, TABLE_SCHEMA["parameters"])
    assert "border or access" in TableDescriber(str(duckdb_file))(**args)
    assert TableDescriber(str(duckdb_file))("") == "tables: netops.v_devices"


def test_an_agent_calls_it_and_an_error_does_not_end_the_run(duckdb_file: Path) -> None:
    model = ScriptedModel(
        script=[call("describe_table", name="v_device"), call("describe_table", name="v_devices")]
    )
    agent = create_agent(model, tools=[describe_table_tool(str(duckdb_file))])
    state = agent.invoke({"messages": [("user", "how many border routers?")]})
    wrong, right = [message.content for message in state["messages"] if message.type == "tool"]
    assert "Did you mean netops.v_devices" in wrong
    assert "border (72)" in right


def test_the_command(sqlite_file: Path) -> None:
    def run(*args: str) -> Any:
        return CliRunner().invoke(main, ["describe-table", *args], prog_name="olav")

    done = run(str(sqlite_file), "devices", "--json")
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["keys"]["foreign"][0]["table"] == "sites"
    assert json.loads(run(str(sqlite_file), "--json").stdout)["tables"][0] == "borders"
    assert "primary key: id" in run(str(sqlite_file), "devices").stdout
    wrong = run(str(sqlite_file), "devicez", "--json")
    assert wrong.exit_code == 1
    assert "Did you mean devices" in json.loads(wrong.stdout)["error"]["message"]


def test_schemas_are_pushed_only_under_the_old_switch(
    duckdb_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    describer = TableDescriber(str(duckdb_file))
    with (
        olav_core.init(tmp_path / "off", embedder="hashing") as memory,
        pytest.raises(OlavError, match="OLAV_LEGACY_SCHEMA_PRIME=1"),
    ):
        prime_schema(memory, describer)
    monkeypatch.setenv("OLAV_LEGACY_SCHEMA_PRIME", "1")
    with olav_core.init(tmp_path / "on", embedder="hashing") as memory:
        primed = prime_schema(memory, describer, scope="netops")
        assert prime_schema(memory, describer, scope="netops") == primed
        assert not primed.unread
        (schema,) = memory.list(category="schema_knowledge")
        assert schema.metadata["columns"] == ["hostname", "role", "asn"]
        found = {
            row.metadata["column"]: row.metadata["values"]
            for row in memory.list(category="value_distribution")
        }
        assert found["role"] == {"access": 428, "border": 72}
        assert "netops.v_devices" in memory.recall("border routers in v_devices", agent="netops").block


def test_a_table_that_cannot_be_read_is_told_and_the_others_are_primed(
    sqlite_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OLAV_LEGACY_SCHEMA_PRIME", "1")
    olav_core.init(tmp_path / "ws", embedder="hashing").close()
    given = ["describe-table", str(sqlite_file), "--prime", "--workspace", str(tmp_path / "ws"), "--json"]
    done = CliRunner().invoke(main, [*given, "--timeout", "2"])
    assert done.exit_code == 1, done.output
    answer = json.loads(done.stdout)
    assert "no_such" in answer["unread"]["broken"]
    assert "broken is left out" in done.stderr
    with olav_core.open(tmp_path / "ws") as memory:
        tables = {row.metadata["table"] for row in memory.list(category="schema_knowledge")}
    assert {"devices", "设备", "borders"} <= tables
    assert "broken" not in tables


def test_what_fails_is_rolled_back_so_that_the_next_question_is_answered(sqlite_file: Path) -> None:
    database = SqlDatabase("", sqlite_file)
    try:
        assert database.count("devices")
        with pytest.raises(Exception, match="no_such"):
            database.count("broken")
        # PostgreSQL answers nothing in a transaction in which something failed.
        assert not database._connection.in_transaction()
        assert database.count("borders")
    finally:
        database.close()


def test_an_sqlite_database_that_sqlalchemy_opens_itself_is_read_only() -> None:
    database = SqlDatabase("sqlite://", None)
    try:
        database.execute("PRAGMA query_only")
        with pytest.raises(Exception, match="readonly"):
            # Past the check of the first word: the connection itself refuses.
            database._connection.connection.cursor().execute("CREATE TABLE t (a)")
    finally:
        database.close()


def test_a_dot_in_a_tables_own_name_parts_nothing(tmp_path: Path) -> None:
    sqlite = tmp_path / "dots.db"
    with sqlite3.connect(sqlite) as connection:
        for name in ("t", "main.t", "a.b", "main."):
            connection.execute(f'CREATE TABLE "{name}" ("of {name}" TEXT)')
    connection.close()
    duck = tmp_path / "dots.duckdb"
    with duckdb.connect(str(duck)) as other:
        other.execute("CREATE SCHEMA s2")
        for name, column in (("main.t", "of t"), ('main."s2.x"', "of s2.x"), ("s2.t", "of s2.t")):
            other.execute(f'CREATE TABLE {name} ("{column}" TEXT)')
    for path, names in ((sqlite, ("t", "main.t", "a.b", "main.")), (duck, ("t", "s2.t", "s2.x"))):
        describer = TableDescriber(str(path))
        assert sorted(describer.tables()) == sorted(names)
        for name in names:
            assert [column.name for column in describer.describe(name).columns] == [f"of {name}"]
    assert TableDescriber(str(duck)).describe("main.t").table == "t"
    assert "no table" in TableDescriber(str(duck))("main.")


def test_a_file_that_is_no_database_says_so(tmp_path: Path) -> None:
    path = tmp_path / "notes.db"
    path.write_text("these are notes, and no database of any kind")
    for url in (str(path), f"sqlite:///{path}"):
        with pytest.raises(TableError, match="neither an SQLite nor a DuckDB file"):
            TableDescriber(url).tables()
