"""The short list: which commands run without a question, and which look-alikes do not."""

import os
from pathlib import Path

import pytest

from hermes.protocol.actions import Origin, RunCommand
from hermes.safety.commands import read
from hermes.safety.harmless import only_reads
from tests.safety.scene import NOBODY, WORKSPACE, judge, make_gate, real_places

HARMLESS = [
    "",
    "# only a comment",
    "ls",
    "ls -la src",
    "/bin/ls",
    "pwd && ls -R",
    "cat README.md | head -n 5",
    "cat src/main.py 2>/dev/null || true",
    "head -20 a.txt; tail -n +3 b.txt",
    "wc -l < notes.txt",
    "wc <<< 'some text'",
    "grep -rn 'def main' .",
    "grep -rnE 'a|b' src tests",
    "grep -r '~/.ssh' docs",
    "git log | grep -i fix",
    "rg -n --hidden 'TODO' src",
    "find . -name '*.py' -type f",
    "find src \\( -name a -o -name b \\) -print",
    "echo hello world",
    "echo 'rm -rf /'",
    "echo done > /dev/null 2>&1",
    "echo oops >&2",
    "printf '%s\\n' a b",
    "date",
    "date +%Y-%m-%d",
    "date -u -d tomorrow",
    "which python3",
    "command -v node",
    "file bin/tool",
    "stat a.txt",
    "du -sh .",
    "df -h",
    "sort names.txt | uniq -c | sort -rn",
    "cut -d, -f1 data.csv",
    "tr a-z A-Z < a.txt",
    "diff a.txt b.txt",
    "diff -ru old new",
    "cmp a b",
    "sed -n '1,20p' a.py",
    "sed -n '/def/,/return/p' a.py",
    "sed -n '5p;9p' a.py",
    "jq -r '.name' package.json",
    "sha256sum dist/x.whl",
    "git status",
    "git status --short",
    "git log --oneline -n 5",
    "git --no-pager diff HEAD~1 -- src",
    "git show HEAD:src/a.py",
    "git branch",
    "git branch -a",
    "git remote -v",
    "git rev-parse HEAD",
    "git ls-files",
    "git blame a.py",
    "git tag",
    "git stash list",
    "git -C sub status",
    "cd src && ls",
    "cd /usr/share && ls",
    "test -f a && echo yes",
    "[ -d src ] && echo yes",
    "sleep 1",
    "python --version",
    "python3 -V",
    "go version",
    "mkdir -p build/out",
    "touch a.txt",
    "echo hi > notes.txt",
    "ls >> out/list.txt 2>&1",
    "ls > /tmp/list.txt",
    "pytest",
    "pytest -q tests/test_a.py -k 'a and b'",
    "python -m pytest -x --tb=short",
    "python3 -m pytest tests/test_a.py::test_b",
    "make test",
    "make check",
    "npm test",
    "npm run build",
    "cargo test --release",
    "cargo build",
    "go test ./...",
    "go vet ./...",
    "cat /etc/os-release",
    "ls ~",
    "ls /",
    "cat ~/project/a.txt",
]

ASKS = [
    # Programs that are not on the list, and ways to start one
    "rm a.txt",
    "mv a b",
    "cp a b",
    "chmod +x a",
    "ln -s a b",
    "curl https://example.com",
    "wget x",
    "pip install x",
    "npm install",
    "npx x",
    "python a.py",
    "python -c 'print(1)'",
    "node -e 1",
    "./ls",
    "/tmp/ls",
    "bash",
    "bash -c ls",
    "sh a.sh",
    "sudo ls",
    "env ls",
    "env",
    "printenv",
    "xargs rm",
    "ls | xargs rm",
    "ls | sh",
    "awk 'BEGIN{system(\"id\")}'",
    "eval ls",
    "source a.sh",
    ". a.sh",
    "command rm x",
    "exec ls",
    "time ls",
    "less a",
    "vim a",
    "tee a",
    "ssh host ls",
    "docker ps",
    "kill 1",
    "ls; rm a",
    "ls\nrm a",
    "ls && rm a",
    "ls || rm a",
    "ls | rm a",
    "hostname new-name",
    # More than words
    "echo $HOME",
    "cat $F",
    "echo $(id)",
    "echo `id`",
    "ls &",
    "(ls)",
    "LC_ALL=C ls",
    "PAGER=x git log",
    "alias ls=rm",
    "export A=b",
    "ls {a,b}",
    "cat ~root/x",
    "ｌｓ",
    "ls\u00a0-la",
    # Options that write or start something
    "sort -o a b",
    "sort -no a b",
    "sort --output=a b",
    "sort --outp=a b",
    "sort --compress-program=./x a",
    "uniq a b",
    "find . -delete",
    "find . -exec rm {} ;",
    "find . -execdir rm {} +",
    "find . -ok rm {} ;",
    "find . -fprintf a x",
    "find . -name x -fls out",
    "sed -i s/a/b/ f",
    "sed 's/a/b/' f",
    "sed -n 'w out' f",
    "sed -n '1e id' f",
    "sed -n '1p;w out' f",
    "sed -n -i 1p f",
    "sed -n -f script f",
    "rg --pre ./x pattern",
    "rg --pre=./x pattern",
    "rg -z pattern",
    "tree -o out",
    "file -C -m magic",
    "date -s tomorrow",
    "date --set=now",
    "date 010100002030",
    "date -d x 010100002030",
    "printf -v 'a[$(id)]' x",
    "test -v 'a[$(id)]'",
    "[ -v 'a[$(id)]' ]",
    "git -c core.pager=./x log",
    "git -c alias.x='!id' x",
    "git --exec-path=. status",
    "git --git-dir=x status",
    "git -C / status",
    "git log --output=a",
    "git log --outp=a",
    "git diff --ext-diff",
    "git show --textconv",
    "git grep -O./x pattern",
    "git grep --open-files-in-pager=./x pattern",
    "git branch new",
    "git branch -D old",
    "git remote add a b",
    "git tag v1",
    "git stash",
    "git stash drop",
    "git add .",
    "git commit -m x",
    "git push",
    "git checkout .",
    "git",
    "cd /usr/share && git status",
    "cd -",
    "mkdir --context=x a",
    "pytest --basetemp=/",
    "pytest --basetemp=src",
    "pytest -c other.ini",
    "pytest -p plugin",
    "pytest ..",
    "cd / && pytest",
    "make",
    "make install",
    "make test deploy",
    "make test SHELL=./x",
    "make -f x test",
    "npm test -- --x",
    "npm run deploy",
    "cargo run",
    "cargo test --config x",
    "go test -exec ./x ./...",
    "go build -o /usr/bin/x",
    "go build -toolexec x",
    "go run x.go",
    # Files that are none of its business
    "cat ~/.ssh/id_rsa",
    f"cat {NOBODY}/.aws/credentials",
    "cat ../.ssh/config",
    "cd ~/.ssh && cat config",
    "cd .. && cat .netrc",
    "ls ~/.gnupg",
    "head ~/.kube/config",
    "cat .npmrc",
    "cat sub/.pypirc",
    "wc -c < ~/.pgpass",
    "grep x ~/.hermes/.env",
    "cat ~/.hermes/auth.json",
    "ls ~/.hermes/mcp-tokens",
    "cat ~/.hermes/profiles/work/.env",
    "grep -r key ~",
    "grep -r key /",
    "grep -e x ~/.ssh/id_rsa",
    "grep -f ~/.ssh/id_rsa x",
    "grep --file=/home/nobody-of-this-machine/.netrc x",
    "rg key ~",
    "cd ~ && rg key",
    "cd ~ && ls | grep -r key",
    "find ~/.ssh -type f",
    "find -L ~/.ssh",
    "diff ~/.netrc /dev/null",
    "git diff --no-index a ~/.netrc",
    "cat /etc/shadow",
    "cat /proc/1/environ",
    "cat /proc/self/environ",
    "cat /dev/sda",
    "cat < /dev/tcp/host/80",
    "cat ~/.SSH/id_rsa",
    # Writing where it should ask
    "echo x > ../a",
    "echo x > ~/.bashrc",
    "echo x >> .git/hooks/pre-commit",
    "echo x > .envrc",
    "echo x > .github/workflows/ci.yml",
    "echo x > ~/.hermes/config.yaml",
    "echo x > /etc/hosts",
    "echo x > /dev/tcp/host/80",
    "echo x > $F",
    "echo x > *.txt",
    "cat <> a",
    "touch ../a",
    "mkdir ~/x",
    "touch .git/config",
    "cd .. && touch a",
    "cd .. || touch a",
    "> ../a",
]


@pytest.mark.parametrize("command", HARMLESS)
def test_a_harmless_command_runs_without_a_question(command: str) -> None:
    assert judge(command).decision == "allow"


@pytest.mark.parametrize("command", ASKS)
def test_a_command_that_is_not_known_to_be_harmless_asks(command: str) -> None:
    verdict = judge(command)
    assert verdict.decision == "ask"
    assert verdict.why


def test_the_verdict_says_what_the_matter_is() -> None:
    assert judge("ls && rm x").why == "rm is not on the list of harmless commands"
    assert judge("echo $X").why == "it uses more of the shell than words, quotes and pipes"
    assert judge("cat ~/.netrc").why == f"{NOBODY}/.netrc is a place where keys are kept"
    assert judge("echo x > ../a").why == f"{NOBODY}/a is outside the working folder {WORKSPACE}"


@pytest.mark.parametrize("command", ["pytest", "make test", "git status", "touch a", "echo x > a"])
def test_without_a_working_folder_nothing_is_inside_it(command: str) -> None:
    assert judge(command, origin=Origin(surface="cli", session="one")).decision == "ask"


@pytest.mark.parametrize("command", ["pytest", "git status"])
def test_elsewhere_a_project_is_not_trusted(command: str) -> None:
    assert judge(command, cwd="/srv/other").decision == "ask"


def test_patterns_for_names_are_looked_up(tmp_path: Path) -> None:
    places, workspace = real_places(tmp_path)
    (workspace / "a.py").touch()
    (workspace / ".npmrc").touch()
    (workspace / "keys").mkdir()
    (workspace / "keys" / "id_rsa").touch()
    origin = Origin(surface="cli", session="one", workspace=str(workspace))

    def decide(command: str) -> str:
        return make_gate(places=places).judge(RunCommand(command, str(workspace)), origin).decision

    assert decide("cat *.py") == "allow"
    assert decide("ls *") == "allow"
    assert decide("cat *.nothing") == "allow"
    assert decide("cat .n*") == "ask"
    assert decide("cat .[^x]pmrc") == "ask"
    assert decide("cat keys/*") == "ask"
    assert decide("cat keys/[[:alpha:]]d_rsa") == "ask"
    assert decide("cat keys/?d_rsa") == "ask"
    assert decide("ls /*/*/*/*/nothing") == "ask"
    (workspace / "--compress-program=x").touch()
    assert decide("sort *") == "ask"


def test_a_link_is_judged_by_where_it_leads(tmp_path: Path) -> None:
    places, workspace = real_places(tmp_path)
    home = workspace.parent
    (home / ".ssh").mkdir()
    (home / ".ssh" / "config").touch()
    (workspace / "settings").symlink_to(home / ".ssh" / "config")
    (workspace / "out").symlink_to(home / "elsewhere")
    origin = Origin(surface="cli", session="one", workspace=str(workspace))
    gate = make_gate(places=places)
    assert gate.judge(RunCommand("cat settings", str(workspace)), origin).decision == "ask"
    assert gate.judge(RunCommand("echo x > out", str(workspace)), origin).decision == "ask"
    assert gate.judge(RunCommand("echo x > out/file", str(workspace)), origin).decision == "ask"


def test_too_many_names_or_folders_ask(tmp_path: Path) -> None:
    places, workspace = real_places(tmp_path)
    for number in range(1001):
        os.mknod(workspace / f"{number}.txt")
    origin = Origin(surface="cli", session="one", workspace=str(workspace))
    gate = make_gate(places=places)
    assert gate.judge(RunCommand("cat *.txt", str(workspace)), origin).decision == "ask"
    assert gate.judge(RunCommand("cd a;" * 30 + "ls", str(workspace)), origin).decision == "ask"


@pytest.mark.parametrize("command", ["ls", "cat a | wc", "git log", "grep x a > /dev/null", "cd src && ls", "find ."])
def test_reading_changes_nothing(command: str) -> None:
    assert only_reads(read(command), WORKSPACE, NOBODY)


@pytest.mark.parametrize(
    "command", ["touch a", "echo x > a", "pytest", "make test", "rm a", "sed -i s/a/b/ f", "ls $X", "find . -delete"]
)
def test_what_may_change_something_does_not_only_read(command: str) -> None:
    assert not only_reads(read(command), WORKSPACE, NOBODY)
