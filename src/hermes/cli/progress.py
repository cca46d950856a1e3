"""A progress bar on stderr: one moving line in a terminal, a line for every tenth elsewhere."""

from typing import TextIO

WIDTH = 28


class Bar:
    def __init__(self, out: TextIO) -> None:
        self._out = out
        self._moves = out.isatty()
        self._shown = ""

    def show(self, done: int, total: int, note: str) -> None:
        """Draw how far it is; nothing is printed twice."""
        share = min(done / total, 1.0) if total else 0.0
        if self._moves:
            filled = int(share * WIDTH)
            line = f"{'█' * filled}{'░' * (WIDTH - filled)} {share:4.0%}  {_size(done)} of {_size(total)}  {note}"
            if line != self._shown:
                self._out.write(f"\r\x1b[K{line[:100]}" + ("\n" if done >= total else ""))
                self._out.flush()
        else:
            line = f"{note}: {int(share * 10) * 10} % of {_size(total)}"
            if line != self._shown:
                print(line, file=self._out, flush=True)
        self._shown = line


def _size(count: int) -> str:
    return f"{count / 1e6:,.0f} MB"
