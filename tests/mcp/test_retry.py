import pytest
from msgspec import Raw

from hermes.config import McpServer, ToolChoice
from hermes.mcp.contract import CallTool, Catalog, Fault, FaultKind, ReadResource, ToolInfo
from hermes.mcp.retry import Step, may_repeat, next_step


def tool(name: str, *, read_only: bool) -> ToolInfo:
    return ToolInfo(
        name=name, title="", description="", schema=Raw(b"{}"), read_only=read_only, idempotent=True, contract=""
    )


CATALOG = Catalog(tools=(tool("look", read_only=True), tool("send", read_only=False)))


def test_only_reading_and_what_the_settings_name_may_be_done_twice() -> None:
    named = McpServer(tools=ToolChoice(idempotent=("se*",)))
    assert may_repeat(ReadResource("x"), CATALOG, McpServer())
    assert may_repeat(CallTool("look", {}), CATALOG, McpServer())
    assert not may_repeat(CallTool("send", {}), CATALOG, McpServer())
    assert may_repeat(CallTool("send", {}), CATALOG, named)
    assert not may_repeat(CallTool("unheard of", {}), CATALOG, McpServer())


TABLE: list[tuple[Fault, Step, Step]] = [
    (Fault(kind="expired", text="", status=404, had_session=True), "renew", "renew"),
    (Fault(kind="expired", text="", status=400, had_session=True), "renew", "renew"),
    (Fault(kind="rejected", text="", status=400, had_session=True), "renew", "prove"),
    (Fault(kind="expired", text="session expired", had_session=True), "renew", "prove"),
    (Fault(kind="refused", text="", sent=False), "reach", "reach"),
    (Fault(kind="cut", text=""), "renew", "unknown"),
    (Fault(kind="unauthorized", text="", status=401), "log in", "log in"),
    (Fault(kind="scope", text="", status=403), "widen", "widen"),
    (Fault(kind="busy", text="", status=429), "wait", "wait"),
    (Fault(kind="busy", text="", status=503), "wait", "give up"),
    (Fault(kind="broken", text="", status=500), "send again", "give up"),
    (Fault(kind="rejected", text="", status=403), "give up", "give up"),
    (Fault(kind="silent", text=""), "give up", "give up"),
    (Fault(kind="garbage", text=""), "send again", "unknown"),
    (Fault(kind="oversize", text=""), "give up", "give up"),
]


@pytest.mark.parametrize(("fault", "reading", "acting"), TABLE)
def test_what_follows_a_fault_stands_in_the_table(fault: Fault, reading: Step, acting: Step) -> None:
    assert next_step(fault, repeatable=True, tried_again=False) == reading
    assert next_step(fault, repeatable=False, tried_again=False) == acting


@pytest.mark.parametrize("kind", ["expired", "cut", "broken", "garbage", "unauthorized"])
def test_after_the_second_try_there_is_no_third(kind: FaultKind) -> None:
    assert next_step(Fault(kind=kind, text="", status=404), repeatable=True, tried_again=True) == "give up"


def test_a_second_try_whose_outcome_is_unknown_is_still_called_that() -> None:
    assert next_step(Fault(kind="cut", text=""), repeatable=False, tried_again=True) == "unknown"
