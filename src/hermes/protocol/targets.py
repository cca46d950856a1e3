"""The two things that memory is about: the work, and the person. Their names cost no more to load than this."""

from typing import Literal

Target = Literal["memory", "user"]
TARGETS: tuple[Target, ...] = ("memory", "user")
