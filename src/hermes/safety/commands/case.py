"""One command before the gate: what it comes down to, the verdict about it, and what of it may be allowed for good."""

from collections.abc import Callable, Iterable

from hermes.protocol.actions import Origin, RunCommand, Verdict
from hermes.safety.commands import hard
from hermes.safety.commands.forbidden import forbidden
from hermes.safety.commands.grants import Grant, covers, grant_of
from hermes.safety.commands.ground import Ground, OnPath
from hermes.safety.commands.read import read
from hermes.safety.commands.rules import judge_found, judge_step
from hermes.safety.commands.steps import Step
from hermes.safety.commands.syntax import normalise
from hermes.safety.places import ALLOW, BLOCK, Follower, Places, reading, writing


class Case:
    """A command, read once. `write` is the verdict about writing to a path; `hides_keys` says whether ssh would find none."""

    def __init__(
        self,
        action: RunCommand,
        origin: Origin,
        places: Places,
        write: OnPath,
        hides_keys: Callable[[], bool] = lambda: False,
    ) -> None:
        self._action = action
        self._workspace = origin.workspace
        self._places = places
        self._reading = read(action.command, action.cwd, places)
        self._ground = Ground(
            workspace=origin.workspace,
            places=places,
            local=action.terminal == "local",
            read=lambda path: reading(path, places, origin.workspace),
            write=write,
            real=Follower(),
            hides_keys=hides_keys if action.terminal == "local" else lambda: False,
        )

    def verdict(self) -> Verdict:
        """What never runs, then what no tool may touch, then the rules."""
        steps = self._reading.steps
        if happens := hard.disaster(steps, self._places.user_home):
            return Verdict(BLOCK, happens.rule, happens.why)
        untouchable = forbidden(
            steps,
            self._places,
            read=lambda path: reading(path, self._places, self._workspace),
            write=lambda path: writing(path, self._workspace, self._places),
            real=self._ground.real if self._ground.local else None,
        )
        return untouchable or judge_found(self._reading.found, self._ground)

    def rules(self) -> frozenset[str]:
        """Every rule that has a say in the verdict, and not only the strictest."""
        return frozenset(judge_step(step, self._ground).rule for step in self._reading.steps)

    def texts(self) -> list[str]:
        """The command as a pattern of the settings may name it: whole, and each program with and without its wrappers."""
        whole = " ".join(normalise(self._action.command).split())
        steps = self._reading.steps
        return [whole, *(" ".join(argv) for step in steps for argv in (step.argv, (*step.before, *step.argv)))]

    def is_covered(self, grants: Iterable[Grant]) -> bool:
        """Whether the command would run if these were granted."""
        grants = list(grants)

        def granted(step: Step) -> bool:
            return self._may_be_granted(step) and any(covers(grant, step.argv) for grant in grants)

        return judge_found(self._reading.found, self._ground, granted).decision == ALLOW

    def new_grants(self) -> tuple[Grant, ...]:
        """What to keep of the command: a grant for each program that would ask; nothing if that would not be enough."""
        asking = [step for step in self._reading.steps if judge_step(step, self._ground).decision != ALLOW]
        grants = tuple(grant_of(step.argv) or () for step in asking)
        return grants if self.is_covered(grants) else ()

    def _may_be_granted(self, step: Step) -> bool:
        """Whether the words of a program say all that it does; where git finds its settings they do not."""
        rule = judge_step(step, self._ground).rule
        foreign = step.name == "git" and rule in ("outside-code", "hidden-code")
        return step.plain and not foreign and not self._ground.writing(step, step.writes)
