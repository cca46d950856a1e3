from hermes.mcp.contract import Fault
from hermes.mcp.exchange import Exchange
from tests.mcp.rig import Person

REFUSED = Fault(kind="refused", text="closed", sent=False)


def test_a_fault_of_the_first_request_is_kept_as_it_was_seen() -> None:
    exchange = Exchange(Person())
    exchange.begin(had_session=True, authorization="Bearer one")
    exchange.fail(REFUSED)
    assert (exchange.fault, exchange.had_session, exchange.authorization) == (REFUSED, True, "Bearer one")


def test_behind_an_answered_request_nothing_proves_that_the_tool_did_not_run() -> None:
    exchange = Exchange(Person())
    exchange.begin(had_session=False, authorization="")
    exchange.begin(had_session=False, authorization="")
    exchange.fail(REFUSED)
    assert exchange.fault == Fault(kind="cut", text="closed", sent=True)


def test_a_request_that_was_rejected_is_no_answered_one() -> None:
    exchange = Exchange(Person())
    exchange.begin(had_session=False, authorization="")
    exchange.fail(Fault(kind="rejected", text="wrong header", status=400))
    exchange.begin(had_session=False, authorization="")
    exchange.fail(REFUSED)
    assert exchange.fault == REFUSED


def test_while_connecting_each_request_stands_for_itself() -> None:
    exchange = Exchange()
    exchange.begin(had_session=False, authorization="")
    exchange.begin(had_session=False, authorization="")
    exchange.fail(REFUSED)
    assert exchange.fault == REFUSED
