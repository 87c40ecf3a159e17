"""Reading the environment."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured

from ieim.config.env import Env


def problems(env: Env) -> str:
    """What `check` says; empty when it is content."""
    try:
        env.check()
    except ImproperlyConfigured as error:
        return str(error)
    return ""


def test_it_takes_white_space_for_nothing() -> None:
    env = Env({"NAME": "  ", "OTHER": " value "})
    assert env.text("NAME", "default") == "default"
    assert env.text("OTHER") == "value"
    assert env.seen == {"NAME", "OTHER"}


def test_a_value_may_stand_in_a_file_and_nowhere_beside(tmp_path: Path) -> None:
    (tmp_path / "key").write_text("secret\n", encoding="utf-8")
    env = Env({"KEY": " ", "KEY_FILE": f"{tmp_path}/key"})
    assert env.required("KEY", "Set it.") == "secret"
    assert env.seen == {"KEY"}
    assert problems(env) == ""
    env = Env({"KEY": "a", "KEY_FILE": f"{tmp_path}/key", "OTHER_FILE": f"{tmp_path}/gone"})
    for _ in range(2):
        env.text("KEY")
        env.text("OTHER")
    said = problems(env)
    assert said.count("KEY is set, and KEY_FILE too. Set one of them.") == 1
    assert "OTHER_FILE cannot be read" in said


def test_it_tells_every_problem_at_once() -> None:
    env = Env({"FLAG": "perhaps", "NUMBER": "ten"})
    env.required("KEY", "Set it to a key.")
    env.flag("FLAG", default=False)
    env.number("NUMBER", 1, low=0, high=5)
    said = problems(env)
    assert "KEY is not set. Set it to a key." in said
    assert "FLAG is 'perhaps'. Set it to true or false." in said
    assert "NUMBER is 'ten'. Set it to a number from 0 to 5." in said


@pytest.mark.parametrize("value", ["6", "-1", "nan", "inf", "1,5", "1e999"])
def test_it_refuses_a_number_outside_its_range(value: str) -> None:
    env = Env({"NUMBER": value})
    assert env.number("NUMBER", 2, low=0, high=5) == 2
    assert "NUMBER" in problems(env)


@pytest.mark.parametrize(
    ("value", "expected"), [("TRUE", True), ("1", True), ("off", False), ("", True)]
)
def test_it_reads_flags(value: str, expected: bool) -> None:
    env = Env({"FLAG": value})
    assert env.flag("FLAG", default=True) is expected
    assert problems(env) == ""


def test_it_reads_names() -> None:
    assert Env({"HOSTS": "a.org, b.org ,,"}).names("HOSTS") == ["a.org", "b.org"]
    assert Env({"HOSTS": " , "}).names("HOSTS", ["c.org"]) == ["c.org"]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("https://ask.example.org", "https://ask.example.org"),
        ("https://Ask.Example.org/", "https://ask.example.org"),
        ("https://ask.example.org:8443", "https://ask.example.org:8443"),
        ("https://[::1]:8443", "https://[::1]:8443"),
        ("", ""),
    ],
)
def test_it_reads_an_origin(value: str, expected: str) -> None:
    env = Env({})
    assert env.origin("URL", value, ["https"]) == expected
    assert problems(env) == ""


@pytest.mark.parametrize(
    "value",
    [
        "ask.example.org",
        "http://ask.example.org",
        "https://ask.example.org/chat",
        "https://user@ask.example.org",
        "https://ask.example.org:port",
        "https://[",
        "https://",
    ],
)
def test_it_refuses_what_is_no_origin(value: str) -> None:
    env = Env({})
    assert env.origin("URL", value, ["https"]) == ""
    assert "such as https://ask.example.org" in problems(env)


@pytest.mark.parametrize("value", ["{", "[]", "3", '{"a": NaN'])
def test_it_refuses_what_is_no_json_object(value: str) -> None:
    env = Env({"TABLE": value})
    assert env.table("TABLE") == {}
    assert "Set it to a JSON object." in problems(env)
