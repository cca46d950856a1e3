"""Numbers and spans of time in a few places."""

STEPS = ((60, "s"), (60, "m"), (24, "h"), (7, "d"), (52, "w"))


def span(seconds: float) -> str:
    """A length of time in its largest whole unit: 90 seconds are 1m."""
    amount = seconds
    for size, unit in STEPS:
        if amount < size:
            return f"{int(amount)}{unit}"
        amount /= size
    return f"{int(amount)}y"


def short(count: int) -> str:
    """A number in at most five places: 940, 12.3k, 4.5M."""
    if count < 1000:
        return str(count)
    for factor, unit in ((1e3, "k"), (1e6, "M"), (1e9, "G")):
        amount = count / factor
        if amount < 99.95:
            return f"{amount:.1f}{unit}"
        if amount < 999.5:
            return f"{amount:.0f}{unit}"
    return f"{count / 1e9:.0f}G"
