"""Put other agents beside Hermes, on this machine and against the same model server: python -m bench.peers

Each is installed from PyPI in an environment of its own under .cache/peers, which later runs use again, and asked for a
one-line answer. One that does not run here is shown with the reason.
"""

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median

from msgspec import Struct

from bench import table
from bench.agents import MAKERS, Agent, Size
from bench.cost import Cost, Failed, run
from bench.prompt import tokens
from bench.stage import Stage

PATIENCE = 180.0
"""Seconds for one answer: an agent that first looks for the internet needs a while where there is none."""


class Trial(Struct, frozen=True):
    """One round with an agent: its version told, then a question answered, with all requests that this took."""

    start: Cost
    answer: Cost
    requests: int
    system: int
    tools: int


class Known(Struct, frozen=True):
    """All that was found out about one agent."""

    trials: list[Trial]
    size: Size

    def middle(self, of: Callable[[Trial], float]) -> float:
        return median(map(of, self.trials))


ROWS: dict[str, tuple[str, Callable[[Known], float]]] = {
    "one-line answer, cold, CPU": ("ms", lambda known: known.middle(lambda trial: trial.answer.cpu)),
    "one-line answer, cold, wall": ("ms", lambda known: known.middle(lambda trial: trial.answer.wall)),
    "requests to the server for it": ("", lambda known: known.middle(lambda trial: trial.requests)),
    "first request: system text, tokens": ("", lambda known: known.trials[-1].system),
    "first request: tools, tokens": ("", lambda known: known.trials[-1].tools),
    "first request: both, tokens": ("", lambda known: known.trials[-1].system + known.trials[-1].tools),
    "peak memory of the answer": ("MB", lambda known: known.middle(lambda trial: trial.answer.peak)),
    "--version, CPU": ("ms", lambda known: known.middle(lambda trial: trial.start.cpu)),
    "installed, with what it needs": ("MB", lambda known: known.size.disk / 1e6),
    "lines of Python of its own": ("", lambda known: known.size.lines),
}


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.peers", description="Other agents beside Hermes.")
    parser.add_argument("--only", metavar="NAME", choices=MAKERS, action="append", help=f"one of {', '.join(MAKERS)}")
    parser.add_argument("--times", metavar="N", type=int, default=5, help="answers of each agent (default: 5)")
    args = parser.parse_args(argv)
    found: dict[str, Known | str] = {}
    agents: list[Agent] = []
    for name in args.only or MAKERS:
        try:
            agents.append(MAKERS[name]())
        except Failed as failure:
            found[name] = str(failure)
    with Stage() as stage:
        found |= measure(stage, agents, args.times)
    print(draw(found))
    for name, known in found.items():
        if isinstance(known, str):
            print(f"\n{name} was not measured: {known}")
    return 0


def measure(stage: Stage, agents: list[Agent], times: int) -> dict[str, Known | str]:
    """Let the agents take turns, so that a busy machine slows all; the first round, in new homes, does not count."""
    homes = {agent.name: stage.fresh("home") for agent in agents}
    trials: dict[str, list[Trial]] = {agent.name: [] for agent in agents}
    failed: dict[str, Known | str] = {}
    for agent in agents:
        agent.settle(homes[agent.name], stage.base_url)
    for number in range(times + 1):
        for agent in agents:
            if agent.name in failed:
                continue
            stage.say(f"{agent.name}, {f'answer {number} of {times}' if number else 'first start'}")
            try:
                trials[agent.name].append(_try(stage, agent, homes[agent.name]))
            except Failed as failure:
                failed[agent.name] = str(failure)
    return {agent.name: failed.get(agent.name) or Known(trials[agent.name][1:], agent.size()) for agent in agents}


def _try(stage: Stage, agent: Agent, home: Path) -> Trial:
    env = {"HOME": str(home), "HERMES_HOME": str(home), "PATH": stage.env["PATH"]}
    start = run([agent.command, "--version"], env=env, cwd=stage.work, patience=PATIENCE)
    before = len(stage.requests())
    answer = run([agent.command, *agent.question], env=env, cwd=stage.work, patience=PATIENCE)
    requests = stage.requests(before)
    if "hi" not in answer.out.split():
        raise Failed(f"it did not print the answer but {answer.out.strip()[-200:]!r}")
    asked = next(request for request in requests if request["dialect"])
    return Trial(start, answer, len(requests), *tokens(asked["body"]))


def draw(found: dict[str, Known | str]) -> str:
    """One column for each agent, with how many times Hermes' figure its own is."""
    ours = found.get("Hermes")
    rows: list[list[str]] = []
    for what, (unit, of) in ROWS.items():
        base = of(ours) if isinstance(ours, Known) else 0
        cells = [_cell(known, of, unit, 0 if known is ours else base) for known in found.values()]
        rows.append([what, *cells])
    return table.render(["what", *found], rows)


def _cell(known: Known | str, of: Callable[[Known], float], unit: str, base: float) -> str:
    if isinstance(known, str):
        return "not measured"
    text = table.amount(of(known), unit)
    return f"{text} ({of(known) / base:.1f}x)" if base else text


if __name__ == "__main__":
    sys.exit(main())
