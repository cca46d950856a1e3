"""What commands have put into the workspace for other programs to start, where nothing was that could have been protected."""

import os
from collections.abc import Callable

from hermes.safety.sandbox.bounds import Bounds, Steering, steering
from hermes.safety.sandbox.git_programs import astray, names_programs


class Planted:
    """Looks at a workspace before a command and after it. `tell` gets a line for people about what is new."""

    def __init__(self, tell: Callable[[str], None]) -> None:
        self._tell = tell
        self._known = Steering()

    def before(self, known: Steering) -> None:
        self._known = known

    def after(self, bounds: Bounds) -> None:
        now = steering(bounds)
        for path in [path for store in now.stores for path in astray(store)]:
            os.unlink(path)
            self._tell(
                f"{path} would have git take its settings from another folder; a command made it, and it was removed"
            )
        made = set(now.files).difference(self._known.files)
        made |= {store for store in set(now.stores).difference(self._known.stores) if names_programs(store)}
        if made:
            names = ", ".join(sorted(os.path.relpath(path, bounds.workspace) for path in made))
            self._tell(f"a command made {names}: other programs start what it says by themselves, so look at it first")
        self._known = now
