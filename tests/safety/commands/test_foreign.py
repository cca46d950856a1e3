"""Code of other languages on a command line, with its option apart or joined."""

import pytest

from hermes.safety.commands.handed import apart
from tests.safety.scene import judge


@pytest.mark.parametrize(
    ("name", "words", "found"),
    [
        ("python3", ["-Bcprint(1)", "x"], ["-Bc", "print(1)", "x"]),
        ("python3.11", ["-mpip", "list"], ["-m", "pip", "list"]),
        ("perl", ["-lne", "print"], ["-lne", "print"]),
        ("perl", ["-leprint 1", "--", "-ex"], ["-le", "print 1", "--", "-ex"]),
        ("node", ["--eval=1"], ["--eval", "1"]),
        ("bash", ["-ex"], ["-ex"]),
    ],
)
def test_code_is_told_apart_from_its_option(name: str, words: list[str], found: list[str]) -> None:
    assert apart(name, words) == found


@pytest.mark.parametrize(
    "command",
    [
        "perl -e'system(\"id\")' x.pl",
        "ruby -e'system(\"id\")' x.rb",
        "php -r'system(\"id\");' x",
        "php -B 'system(\"id\");'",
        "php -d auto_prepend_file=/tmp/x a.php",
        'php -r \'("sys"."tem")("id");\'',
        "lua -e'os.execute(\"id\")' x.lua",
        "node --eval='require(\"child_process\")' x.js",
        "node -e \"const fs=require('fs');fs['rmSync']('a')\"",
        "node -e \"const {unlinkSync:u}=require('fs');u('a')\"",
        "node -e \"require('fs').writeFileSync('/etc/x', 'y')\"",
        "node -p 'process.env.GITHUB_TOKEN'",
        "ruby -e 'puts ENV[\"GITHUB_TOKEN\"]'",
        "perl -e 'print $ENV{AWS_SECRET_ACCESS_KEY}'",
        "ocaml -e 'Sys.command \"id\"'",
    ],
)
def test_code_that_could_do_harm_asks(command: str) -> None:
    assert judge(command).decision == "ask"


@pytest.mark.parametrize(
    "command",
    [
        "node -e \"require('fs').writeFileSync('out.txt', 'y')\"",
        'ruby -e \'File.write("out.txt", "x")\'',
        'php -r \'file_put_contents("out.txt", "x");\'',
        'php -r \'echo json_decode("{}", true)["require"];\'',
        "php --ini",
        "perl -le'print 1+1'",
        "ruby -e 'puts \"rm -rf / is bad\"'",
    ],
)
def test_work_in_the_working_folder_does_not(command: str) -> None:
    assert judge(command).decision == "allow"
