"""Disks that a command would fill, and the small files that look like it."""

import pytest

from tests.safety.scene import judge


@pytest.mark.parametrize(
    "command",
    [
        "dd if=/dev/zero of=test.img",
        "dd if=/dev/zero of=test.img bs=1G count=500",
        "cat /dev/zero > fill",
        "cp /dev/zero fill",
        "yes > fill",
        "fallocate -l 1T fill",
        "head -c 100G /dev/urandom > fill",
    ],
)
def test_filling_the_disk_asks(command: str) -> None:
    verdict = judge(command)
    assert (verdict.decision, verdict.rule) == ("ask", "fills-disk")


@pytest.mark.parametrize(
    "command",
    [
        "dd if=/dev/zero of=test.img bs=1M count=100",
        "head -c 32 /dev/urandom > salt.bin",
        "tr -dc a-z < /dev/urandom | head -c 12",
        "yes | head -3",
        "fallocate -l 10M a.img",
        "cat /dev/null > build/log.txt",
    ],
)
def test_a_file_of_a_usual_size_does_not(command: str) -> None:
    assert judge(command).decision == "allow"
