"""People's work goes on inside: builds, tests, packages and commits."""

import os
import shutil
import subprocess
import sys
import zipfile

import pytest

from tests.safety.sandbox.conftest import Kind, Scene

IDENTITY = "-c user.name=me -c user.email=me@example.com"


def git(*words: object) -> None:
    subprocess.run(["git", *map(str, words)], check=True, capture_output=True)


async def succeed(scene: Scene, kind: Kind, command: str) -> str:
    # The interpreter of the tests may itself lie in a temporary folder, which commands would not see.
    ran = await scene.terminal(kind, paths=(sys.prefix,)).run(command, timeout=120)
    assert ran.code == 0, ran.output
    return ran.output


async def test_a_commit_can_be_made(scene: Scene, held: Kind) -> None:
    git("init", "-q", scene.work)
    output = await succeed(
        scene, held, f"echo x > f; git add f; git {IDENTITY} commit -qm one; git log --oneline | wc -l"
    )
    assert output.strip() == "1"


async def test_a_commit_can_be_made_in_a_part_of_a_repository(scene: Scene) -> None:
    git("init", "-q", scene.work)
    part = scene.work / "part"
    part.mkdir()
    ran = await scene.terminal("bubblewrap", part).run(
        f"echo x > f; git add f; git {IDENTITY} commit -qm one; echo evil > ../other; echo evil > ../.git/hooks/pre-push",
        timeout=20,
    )
    assert ran.code != 0
    assert subprocess.run(["git", "-C", scene.work, "log", "--format=%s"], capture_output=True).stdout == b"one\n"
    assert not (scene.work / "other").exists()
    assert not (scene.work / ".git/hooks/pre-push").exists()


async def test_a_commit_can_be_made_in_a_linked_worktree(scene: Scene, held: Kind) -> None:
    git("init", "-q", main := scene.home / "main")
    git("-C", main, *IDENTITY.split(), "commit", "-q", "--allow-empty", "-m", "first")
    git("-C", main, "worktree", "add", "-q", tree := scene.home / "tree")
    ran = await scene.terminal(held, tree).run(f"echo x > f; git add f; git {IDENTITY} commit -qm second", timeout=20)
    assert ran.code == 0, ran.output


async def test_a_forged_worktree_opens_nothing(scene: Scene, held: Kind) -> None:
    git("init", "-q", victim := scene.home / "victim")
    (scene.work / ".git").write_text(f"gitdir: {victim}/.git\n")
    await scene.terminal(held).run(f"echo x > {victim}/.git/planted", timeout=20)
    assert not (victim / ".git/planted").exists()


@pytest.mark.needs("make")
async def test_make_and_a_compiler_work(scene: Scene, held: Kind) -> None:
    (scene.work / "Makefile").write_text("hello: hello.c\n\tcc -o hello hello.c\n")
    (scene.work / "hello.c").write_text('#include <stdio.h>\nint main(void) { puts("built"); }\n')
    assert "built" in await succeed(scene, held, "make && ./hello")


async def test_pytest_works(scene: Scene, held: Kind) -> None:
    (scene.work / "test_one.py").write_text("def test_one(tmp_path): (tmp_path / 'x').write_text('x')\n")
    assert "1 passed" in await succeed(
        scene, held, f"{sys.executable} -m pytest -q -p no:anyio --basetemp=$(mktemp -d)/base test_one.py"
    )


async def test_pip_installs_into_a_new_environment(scene: Scene, held: Kind) -> None:
    with zipfile.ZipFile(scene.work / "mine-1-py3-none-any.whl", "w") as wheel:
        wheel.writestr("mine.py", "print('installed')\n")
        wheel.writestr("mine-1.dist-info/METADATA", "Metadata-Version: 2.1\nName: mine\nVersion: 1\n")
        wheel.writestr("mine-1.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr("mine-1.dist-info/RECORD", "")
    python = sys.executable
    install = f"{python} -m pip --python v/bin/python install -q --no-index ./mine-1-py3-none-any.whl"
    output = await succeed(
        scene, held, f"{python} -m venv --without-pip v && {install} && . v/bin/activate && python -m mine"
    )
    assert output.splitlines()[-1] == "installed"


async def test_a_commit_is_made_with_the_name_in_the_persons_settings(scene: Scene, held: Kind) -> None:
    git("init", "-q", scene.work)
    output = await succeed(scene, held, "echo x > f; git add f; git commit -qm one; git log --format='%an <%ae>'")
    assert output == "me <me@example.com>\n"


@pytest.mark.needs("npm")
async def test_npm_packs_and_installs(scene: Scene, held: Kind) -> None:
    (scene.work / "dep").mkdir()
    (scene.work / "dep/package.json").write_text('{"name": "dep", "version": "1.0.0"}')
    (scene.work / "package.json").write_text('{"name": "app", "version": "1.0.0"}')
    command = "npm pack --silent ./dep && npm install --offline --no-audit --no-fund ./dep-1.0.0.tgz"
    await succeed(scene, held, command)
    assert (scene.work / "node_modules/dep/package.json").exists()
    assert not (scene.home / ".npm").exists()


async def test_cargo_builds(scene: Scene, held: Kind) -> None:
    cargo = shutil.which("cargo")
    if cargo is None or subprocess.run([cargo, "--version"], capture_output=True).returncode:
        pytest.skip("cargo does not work here")
    (scene.home / ".cargo").mkdir()
    (scene.home / ".cargo/config.toml").write_text("[net]\noffline = true\n")
    (scene.work / "src").mkdir()
    (scene.work / "Cargo.toml").write_text('[package]\nname = "mine"\nversion = "0.1.0"\nedition = "2021"\n')
    (scene.work / "src/main.rs").write_text('fn main() { println!("built"); }\n')
    scene.env["RUSTUP_HOME"] = os.path.expanduser("~/.rustup")
    assert "built" in await succeed(scene, held, "cargo run -q")


@pytest.mark.needs("bwrap")
async def test_caches_are_kept_from_session_to_session_but_never_in_the_persons_own(scene: Scene) -> None:
    (scene.home / ".cache/pip").mkdir(parents=True)
    (scene.home / ".cache/pip/mine").write_text("mine")
    await succeed(scene, "bubblewrap", "mkdir -p ~/.cache/pip && echo kept > ~/.cache/pip/wheel")
    assert await succeed(scene, "bubblewrap", "cat ~/.cache/pip/wheel; ls ~/.cache/pip") == "kept\nwheel\n"
    assert [path.name for path in (scene.home / ".cache/pip").iterdir()] == ["mine"]
