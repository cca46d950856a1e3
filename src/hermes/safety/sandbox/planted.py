"""What commands have put into the workspace for other programs to start, where nothing was that could have been protected."""

import os
from collections.abc import Callable

from hermes.safety.sandbox.bounds import PROTECTED, Bounds
from hermes.safety.sandbox.git_programs import astray, names_programs
from hermes.safety.sandbox.repository import git_folders


class Planted:
    """Looks at a workspace before a command and after it. `tell` gets a line for people about what is new."""

    def __init__(self, tell: Callable[[str], None]) -> None:
        self._tell = tell
        self._stores: set[str] = set()
        self._files: set[str] = set()

    def before(self, bounds: Bounds) -> None:
        self._stores = set(git_folders(bounds.workspace, bounds.folders))
        self._files = set(bounds.folders.those_in(bounds.workspace, PROTECTED))

    def after(self, bounds: Bounds) -> None:
        stores = set(git_folders(bounds.workspace, bounds.folders))
        for path in [path for store in stores for path in astray(store)]:
            os.unlink(path)
            self._tell(
                f"{path} would have git take its settings from another folder; a command made it, and it was removed"
            )
        files = set(bounds.folders.those_in(bounds.workspace, PROTECTED))
        made = files - self._files
        made |= {store for store in stores - self._stores if names_programs(store)}
        if made:
            names = ", ".join(sorted(os.path.relpath(path, bounds.workspace) for path in made))
            self._tell(f"a command made {names}: other programs start what it says by themselves, so look at it first")
        self._stores, self._files = stores, files
