"""The command that looks for a newer Hermes and says how to get it; it changes nothing."""

from pathlib import Path

import hermes
from hermes.app import App
from hermes.commands.registry import Command, Context, Outcome
from hermes.protocol.errors import UserError

PACKAGE = "hermes-courier"
SHOWN = 10
# A question that ssh asks would be drawn across the screen.
ASKS_NOTHING = ("-c", "core.sshCommand=ssh -o BatchMode=yes")


async def update(ctx: Context, argument: str) -> Outcome:
    return Outcome(reply=await news(ctx.app, Path(hermes.__file__).resolve().parents[2]))


async def news(app: App, tree: Path) -> str:
    """What the branch that a tree follows has and the tree does not; Hermes that pip installed is pip's to update."""
    version = f"Hermes {hermes.__version__}"
    if not (tree / ".git").exists():
        return f"{version} was installed as a package. To update it: `pip install --upgrade {PACKAGE}`"
    git = app.repository(tree)
    try:
        await git.run("rev-parse", "--abbrev-ref", "@{upstream}")
    except UserError:
        raise UserError(
            "this Hermes follows no branch to update from", "git branch --set-upstream-to=origin/main"
        ) from None
    try:
        await git.run(*ASKS_NOTHING, "fetch", "--quiet")
    except UserError as error:
        raise UserError(f"cannot ask for what is new: {error}", "are you offline?") from None
    new = (await git.run("log", "--format=%h %s", "HEAD..@{upstream}")).splitlines()
    if not new:
        return f"{version} is up to date."
    more = [f"- … and {len(new) - SHOWN} more"] if len(new) > SHOWN else []
    count = "There is one change" if len(new) == 1 else f"There are {len(new)} changes"
    lines = [f"- `{line[: line.find(' ')]}`{line[line.find(' ') :]}" for line in new[:SHOWN]]
    return "\n".join([f"{count} since {version}. Leave, and run `hermes update`:", *lines, *more])


UPDATE = Command(name="update", help="look whether there is a newer Hermes, and say how to get it", run=update)
