"""The short list: which commands run without a question, and which look-alikes do not."""

import os
from pathlib import Path

import pytest

from hermes.protocol.actions import Origin, RunCommand
from hermes.safety.commands import read
from hermes.safety.gate import Policy
from hermes.safety.harmless import only_reads
from tests.safety.scene import NOBODY, ORIGIN, WORKSPACE, judge, make_gate, real_places

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
    "grep -A2 -B 2 --color=never -m1 x a.py",
    "grep -5 -e x -e y a.py b.py",
    "grep -f patterns.txt a.py",
    "grep -r x ~/.hermes/skills",
    "rg -tpy -g '!tests' -C 3 x",
    "rg --files src",
    "ls | rg x",
    "head -c 100 a; head -n5 a",
    "ls --color=auto --time-style full-iso",
    "sort -t, -k2,2 -u a.csv",
    "find . -maxdepth 2 -not -path './.git/*' -mtime -7 -printf '%p %s'",
    "find . -newer a.txt -o -name id_rsa",
    "jq -c --arg name x '.[] | select(.name == $name)' a.json",
    "jq --indent 2 . a.json",
    "echo --anything -v %n",
    "printf '100%%n %s' x",
    "cat --help",
    "seq 1 5 | tr -d 1",
    "git log -5 --stat -p --since='2 days ago' --author me -- src",
    "git log --graph --decorate --all --format='%h %s' HEAD~3..HEAD",
    "git log -S /api -G '/x' -n3",
    "git diff --stat --cached -U5 -M90% main...topic",
    "git grep -n x -- src",
    "git blame -L 1,5 a.py",
    "git ls-files --others --exclude-standard",
    "git rev-parse --show-toplevel --abbrev-ref HEAD",
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
    "mkdir -p build/out",
    "touch a.txt",
    "echo hi > notes.txt",
    "ls >> out/list.txt 2>&1",
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
    "cd -P && ls",
    "cd -L; cat a",
    "cd -- src",
    "git -C .. -C ./x status",
    "cat \ud800",
    "ls x\udc80*",
    "mkdir --context=x a",
    # Building and testing run code that the model may have written a moment ago
    "make",
    "make test",
    "make install",
    "pytest",
    "pytest -q tests/test_a.py",
    "python -m pytest",
    "npm test",
    "npm run build",
    "cargo build",
    "cargo test",
    "cargo run",
    "go test ./...",
    "go run x.go",
    # What looks like a question for the version, and runs a file, a target or a toolchain of the working folder
    "python version",
    "python3 version",
    "bash version",
    "node version",
    "make version",
    "bash -V",
    "go version",
    "cargo --version",
    "rustc --version",
    "pip --version",
    "npm --version",
    # Options that read other files, follow links, or are simply not known
    "cat --unknown a",
    "ls -la --unknown",
    "wc --files0-from=names",
    "wc --files0-f names",
    "du --files0-from=names",
    "du -X names",
    "sort --random-source=a b",
    "sort -T /var a",
    "sha256sum -c sums",
    "file -f names",
    "file -m magic a",
    "file -s a",
    "tree --fromfile names",
    "tree -R -H . -L 1",
    "diff -r old new",
    "diff -N old new",
    "diff --from-file=a b",
    "diff --to-file a b",
    "diff -X names a b",
    "diff -l a b",
    "grep -R x .",
    "grep -rR x src",
    "grep --dereference-recursive x src",
    "grep -d recurse x src",
    "grep --directories=recurse x src",
    "rg -L x",
    "rg --follow x",
    "rg --hostname-bin ./x y",
    "rg --ignore-file names x",
    "find . -newer ~/.ssh/config",
    "find . -samefile ~/.netrc",
    "find . -files0-from names",
    "find . -unknown",
    "find -D exec .",
    "sed -n '1r secrets' f",
    "sed -n '/a/R secrets' f",
    "date -f dates",
    "printf 'abcd%n' PATH",
    "printf 'abcd%-3ln' PATH",
    "test -o x -a -v 'a[0]'",
    'jq -n \'import "auth" as $d {search: "~/.hermes"}; $d\'',
    "jq 'include \"a\"; f' x.json",
    "jq -n '\"a\" | modulemeta'",
    "jq -n env",
    "jq -n '$ENV.PATH'",
    "jq -f program.jq x.json",
    "jq -nf program.jq",
    "jq --from-file program.jq x.json",
    "jq -L . . x.json",
    "jq --rawfile a ~/.netrc . x.json",
    "jq --slurpfile a ~/.ssh/config -n '$a'",
    "jq --argfile a b . x.json",
    # git
    "git diff --no-index a b",
    "git diff --no-ind a b",
    "git diff empty ~/.hermes",
    "git diff a /etc/hosts",
    "git diff -- ../a b",
    "git diff -Oorder",
    "git grep --no-index x",
    "git grep --untracked x",
    "git grep -f ~/.netrc",
    "git blame --contents ~/.netrc a.py",
    "git blame --ignore-revs-file names a.py",
    "git blame -S names a.py",
    "git log --show-signature",
    "git log --format=%G?",
    "git log --pretty='%h %GK'",
    "git log --remerge-diff",
    "git log --help",
    "git ls-files -X names",
    "git ls-files --exclude-from=names",
    "git cat-file --textconv HEAD:a",
    "git show HEAD:.npmrc",
    "git show :./.npmrc",
    "git status --unknown",
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
    "grep -rh . ~/.hermes",
    "grep -rh . ~/.hermes/profiles",
    "grep -rh . ~/.hermes/profiles/work",
    "rg x ~/.hermes/profiles",
    "cd ~/.hermes/profiles && grep -r x",
    "cd ~/.hermes && ls | grep --recursive x",
    "grep -r x /etc",
    "grep -r x /home",
    "grep -r x /home/somebody-else",
    "grep -r . /proc/self",
    "rg --files ~/.ssh",
    "diff ~/.netrc /dev/null",
    "git diff --no-index a ~/.netrc",
    "cat /etc/shadow",
    "cat /dev/sda",
    "cat < /dev/tcp/host/80",
    "cat ~/.SSH/id_rsa",
    # Writing where it should ask
    "echo x > ../a",
    "ls > /tmp/list.txt",
    "touch /tmp/a",
    "echo x > ~/.bashrc",
    "echo x >> .git/hooks/pre-commit",
    "echo x > .envrc",
    "echo x > .github/workflows/ci.yml",
    "echo x > ~/.hermes/config.yaml",
    "echo x > /etc/hosts",
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


@pytest.mark.parametrize("command", ["git status", "touch a", "echo x > a"])
def test_without_a_working_folder_nothing_is_inside_it(command: str) -> None:
    assert judge(command, origin=Origin(surface="cli", session="one")).decision == "ask"


@pytest.mark.parametrize("command", ["git status", "touch a"])
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


def test_a_folder_with_keys_in_it_is_not_searched_unasked(tmp_path: Path) -> None:
    places, workspace = real_places(tmp_path)
    (workspace / "web").mkdir()
    (workspace / "web" / ".npmrc").touch()
    gate = make_gate(places=places)
    origin = Origin(surface="cli", session="one", workspace=str(workspace))
    assert gate.judge(RunCommand("grep -r x web", str(workspace)), origin).decision == "ask"
    assert gate.judge(RunCommand("rg x web", str(workspace)), origin).decision == "ask"
    (workspace / "web" / ".npmrc").unlink()
    assert gate.judge(RunCommand("grep -r x web", str(workspace)), origin).decision == "allow"


def test_comparing_folders_asks_because_diff_follows_their_links(tmp_path: Path) -> None:
    places, workspace = real_places(tmp_path)
    for name in ("old", "new"):
        (workspace / name).mkdir()
    (workspace / "new" / "x").symlink_to(workspace.parent / ".ssh" / "id_rsa")
    gate = make_gate(places=places)
    origin = Origin(surface="cli", session="one", workspace=str(workspace))
    assert gate.judge(RunCommand("diff old new", str(workspace)), origin).decision == "ask"
    assert gate.judge(RunCommand("diff -u old/a new/b", str(workspace)), origin).decision == "allow"


def test_a_repository_that_a_few_written_files_make_is_not_looked_at(tmp_path: Path) -> None:
    places, workspace = real_places(tmp_path)
    gate = make_gate(places=places)
    origin = Origin(surface="cli", session="one", workspace=str(workspace))
    (workspace / "sub" / "deep").mkdir(parents=True)

    def decide(command: str) -> str:
        return gate.judge(RunCommand(command, str(workspace)), origin).decision

    assert decide("git -C sub/deep status") == "allow"
    for name in ("objects", "refs"):
        (workspace / "sub" / name).mkdir()
    (workspace / "sub" / "HEAD").write_text("ref: refs/heads/main")
    assert decide("git -C sub status") == "ask"
    assert decide("git -C sub/deep status") == "ask"
    assert decide("cd sub && git log") == "ask"
    assert decide("git status") == "allow"
    gate.policy = Policy(places=places, allow=(("git", "add", "..."),))
    assert decide("git add .") == "allow"
    assert decide("cd sub && git add .") == "ask"


@pytest.mark.parametrize(
    "before",
    [
        "mkdir -p sub/objects sub/refs && echo 'ref: refs/heads/x' > sub/HEAD",
        "sleep 5",
        "tail -f log",
        "touch a",
        "> a",
        "git pull",
        "make",
    ],
)
def test_what_a_command_writes_or_waits_for_first_may_change_what_the_rest_of_it_means(
    tmp_path: Path, before: str
) -> None:
    places, workspace = real_places(tmp_path)
    (workspace / "sub").mkdir()
    gate = make_gate(places=places, allow=(("make",), ("git", "pull")))
    origin = Origin(surface="cli", session="one", workspace=str(workspace))

    def decide(command: str, *, background: bool = False) -> str:
        return gate.judge(RunCommand(command, str(workspace), background=background), origin).decision

    assert [decide(before), decide(f"{before}; ls ./*")] == ["allow", "allow"]
    assert [decide(f"{before}; git -C sub status"), decide(f"{before}; rg x *")] == ["ask", "ask"]
    assert decide(f"rg x * | {before}") == "ask"
    assert [decide("git -C sub status", background=True), decide("ls *", background=True)] == ["ask", "ask"]
    assert [decide("cat a; git -C sub status > a"), decide("cd sub && ls * > a")] == ["allow", "allow"]
    (workspace / ".git").mkdir()
    assert [decide(f"{before}; git status"), decide("git log", background=True)] == ["allow", "allow"]


def test_on_another_machine_nobody_sees_which_repository_git_finds() -> None:
    assert make_gate().judge(RunCommand("git status", WORKSPACE, "ssh"), ORIGIN).decision == "ask"
    assert make_gate().judge(RunCommand("git status", WORKSPACE, "docker"), ORIGIN).decision == "allow"


def test_the_temporary_folder_around_the_working_folder_is_not_part_of_it(tmp_path: Path) -> None:
    places, _ = real_places(tmp_path)
    origin = Origin(surface="cli", session="one", workspace="/tmp/work")
    gate = make_gate(places=places)
    assert gate.judge(RunCommand("touch a /tmp/work/b", "/tmp/work"), origin).decision == "allow"
    assert gate.judge(RunCommand("touch ../x", "/tmp/work"), origin).decision == "ask"


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
