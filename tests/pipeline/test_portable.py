"""The schemas that are sent: what no server refuses, and what no good answer is refused by."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from ieim.llm.capabilities import Format, response_format
from ieim.pipeline import contract as contracts
from ieim.pipeline import request
from ieim.pipeline.contract import Validator
from ieim.pipeline.ports import ModelRequest, Query
from ieim.pipeline.stages.base import Inputs
from tests.pipeline.build import CONTRACTS, TEXT, TODAY, context, valid
from tests.pipeline.drive import payload
from tests.pipeline.searching import FakeSearch

KNOWN = {
    "$defs",
    "$ref",
    "anyOf",
    "additionalProperties",
    "enum",
    "items",
    "maxLength",
    "maximum",
    "minimum",
    "properties",
    "required",
    "type",
}
"""Every keyword that the servers and decoders we know of take."""


@cache
def asked(contract: str, *, attempt: int = 1, limit: int | None = None) -> ModelRequest:
    """Return the request of a contract over the small release."""
    inputs = Inputs(
        text=TEXT,
        today=TODAY,
        history=(),
        context=context(contract, attempt=attempt),
        shortlist=FakeSearch(),
        query=Query(TEXT),
        limits={"agencies": 8, "categories": 8, "services": 8},
    )
    return request.build(
        contracts.load(contract),
        inputs,
        request_id="r-1",
        temperature=0.0,
        max_output_tokens=512,
        max_input_bytes=limit,
    )


def sent(contract: str) -> Mapping[str, Any]:
    """Return the schema that goes with it."""
    schema = asked(contract).response_format
    assert schema is not None
    return schema


def schemas(schema: Any) -> Iterator[Any]:
    """Yield a schema and every schema in it."""
    yield schema
    if not isinstance(schema, Mapping):
        return
    for child in schema.get("anyOf", ()):
        yield from schemas(child)
    for child in (*schema.get("properties", {}).values(), *schema.get("$defs", {}).values()):
        yield from schemas(child)
    for name in ("items", "additionalProperties"):
        if isinstance(schema.get(name), Mapping):
            yield from schemas(schema[name])


@pytest.mark.parametrize("contract", CONTRACTS)
@pytest.mark.parametrize("form", ["json_schema", "json_object_schema"])
def test_nothing_is_sent_that_a_server_may_refuse(contract: str, form: Format) -> None:
    shape = response_format(contract, sent(contract), form)
    structured = form == "json_schema"
    known = KNOWN - {"anyOf", "maxLength"} if structured else KNOWN
    for schema in schemas(shape["json_schema"]["schema"] if structured else shape["schema"]):
        assert isinstance(schema, Mapping), "a boolean schema"
        assert set(schema) <= known, set(schema) - known
        if "$ref" in schema:
            assert set(schema) == {"$ref"}
        else:
            assert "type" in schema
        if schema.get("type") == "object":
            assert schema["additionalProperties"] is False


def test_the_shortlist_is_in_it() -> None:
    """An id, key or code that was not offered is not even sayable."""
    agency = valid("agency_detect_v1")
    agency["judgements"]["agencyDetected"] = ["elsewhere"]
    category = valid("category_select_v1")
    category["categorySelection"]["candidates"] = {"new kind": {"value": "x", "score": 0.9}}
    analysis = valid("semantic_analysis_v1")
    analysis["semanticAnalysis"]["primaryAgency"]["agencyId"] = "elsewhere"
    service = valid("service_select_v1")
    service["template"]["placeholders"] = {"service_secret": "{service_secret}"}
    answer = valid("multi_agency_service_answer_v1")
    answer["sourcesUsed"][0]["serviceKey"] = "elsewhere"
    label = valid("classify")
    label["urgency"]["label"] = "yesterday"
    entity = valid("extract")
    entity["entities"][0]["entity_type"] = "shoe size"
    key = valid("identity_assist")
    key["keys"][0]["key_type"] = "shoe size"
    answers = (agency, category, analysis, service, answer, label, entity, key)
    for contract, result in zip(CONTRACTS[1:], answers, strict=True):
        assert not list(contracts.load(contract).validator.iter_errors(result)), contract
        assert list(Validator(sent(contract)).iter_errors(result)), contract


def test_a_condition_is_sent_as_a_choice() -> None:
    """A decoder that takes it cannot say both that it is an inquiry and what else would help."""
    result = valid("judgement_v1") | {"assistantReply": "Ask me about passports."}
    assert list(Validator(sent("judgement_v1")).iter_errors(result))
    result["judgements"] = {"inquiry": False}
    assert not list(Validator(sent("judgement_v1")).iter_errors(result))


@pytest.mark.parametrize("contract", CONTRACTS)
def test_a_right_answer_is_valid_under_it(contract: str) -> None:
    assert not list(Validator(sent(contract)).iter_errors(valid(contract)))


@settings(max_examples=40)
@pytest.mark.parametrize("contract", CONTRACTS)
@given(data=st.data())
def test_every_answer_of_the_contract_over_the_shortlist_is_valid_under_it(
    contract: str, data: st.DataObject
) -> None:
    loaded = contracts.load(contract)
    codes = loaded.stage.enums(payload(asked(contract)))
    answer = data.draw(answers(loaded.schema, loaded.schema.get("$defs", {}), codes, ()))
    if not list(loaded.validator.iter_errors(answer)):
        assert not list(Validator(sent(contract)).iter_errors(answer))


def answers(
    schema: Any,
    defs: Mapping[str, Any],
    codes: Mapping[tuple[str, ...], Sequence[str]],
    where: tuple[str, ...],
) -> SearchStrategy[Any]:
    """Make answers of a contract's own schema, with codes where it has them."""
    if "$ref" in schema:
        return answers(defs[schema["$ref"].rpartition("/")[2]], defs, codes, where)
    if "const" in schema:
        return st.just(schema["const"])
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    if schema["type"] == "array":
        item = answers(schema["items"], defs, codes, (*where, "items"))
        return st.lists(item, max_size=3)
    if schema["type"] == "object" and "properties" in schema:
        return st.fixed_dictionaries(
            {
                name: answers(child, defs, codes, (*where, "properties", name))
                for name, child in schema["properties"].items()
                # Let through by the schema for the gate to refuse by name.
                if not isinstance(child, bool)
            }
        )
    if schema["type"] == "object":
        values = answers(schema["additionalProperties"], defs, codes, where)
        return st.dictionaries(st.sampled_from(codes[where]), values, max_size=3)
    if where in codes:
        return st.sampled_from(codes[where])
    strategy: SearchStrategy[Any] = _SCALARS[str(schema["type"])](schema)
    return strategy


def _text(schema: Mapping[str, Any]) -> SearchStrategy[Any]:
    return st.text(max_size=schema.get("maxLength"))


_SCALARS: Mapping[str, Any] = {
    "string": _text,
    str(["string", "null"]): lambda schema: st.none() | _text(schema),
    "boolean": lambda _schema: st.booleans(),
    "integer": lambda _schema: st.integers(),
    "number": lambda schema: st.floats(schema["minimum"], schema["maximum"]),
}
