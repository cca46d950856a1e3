"""Python on a command line: what its tree says about files, programs, databases and keys."""

import pytest

from hermes.safety.commands.pycalls import Code
from hermes.safety.commands.pycode import look
from tests.safety.scene import NOBODY, judge


def test_a_name_that_holds_one_path_stands_for_it() -> None:
    source = """
from pathlib import Path
folder = Path("out")
target = folder / "a.txt"
target.write_text("x")
for each in sorted(Path("src").rglob("*.py")):
    each.write_text(each.read_text())
"""
    assert look(source) == Code(reads=("out", "src/*.py", "src"), writes=("out/a.txt", "src/*.py"))


def test_a_name_that_holds_two_paths_stands_for_none() -> None:
    assert look("from pathlib import Path\np = Path('a')\np = Path('/etc/x')\np.write_text('')").trouble


def test_what_a_shell_could_do_as_well_is_handed_to_the_rules_for_shells() -> None:
    source = "import os, shutil\nos.remove('a b')\nshutil.rmtree('build')\nshutil.copy('x', 'y')\nos.rename('x', 'z')"
    assert look(source) == Code(texts=("rm -- 'a b'", "rm -r -- build", "cp -- x y", "mv -- x z"))


def test_code_that_is_to_be_timed_counts_as_well() -> None:
    assert look("import cProfile\ncProfile.run('import os; os.system(\"id\")')") == Code(texts=("id",))


def test_statements_are_taken_with_a_name_in_place_of_what_is_filled_in() -> None:
    source = "import sqlite3\nc = sqlite3.connect('a.db')\nc.execute(f'select * from {t}')"
    assert look(source) == Code(writes=("a.db",), statements=("select * from x",))


@pytest.mark.parametrize(
    "code",
    [
        "from pathlib import Path; Path('/etc/x').open('w')",
        "from pathlib import Path; Path('~/.bashrc').expanduser().write_text('')",
        "from pathlib import Path; print((Path.home() / '.ssh' / 'id_rsa').read_text())",
        "import os; print(open(os.path.expanduser('~/.aws/credentials')).read())",
        "import os; os.chdir('/etc'); open('x', 'w')",
        "import os; print(os.environ.get('OPENAI_API_KEY'))",
        "import os; os.__dict__['system']('id')",
        "import operator, os; operator.methodcaller('system', 'id')(os)",
        "import sqlite3; sqlite3.connect('app.db').execute('DROP TABLE users')",
        "import sqlite3; q = input(); sqlite3.connect('app.db').execute(q)",
        "import zipfile; zipfile.ZipFile('/etc/x.zip', 'w')",
        "import pandas as pd; pd.DataFrame().to_csv('/etc/x')",
        "import fileinput; list(fileinput.input('/etc/x', inplace=True))",
        "import asyncio; asyncio.run(asyncio.create_subprocess_shell('id'))",
        "import sys; sys.path.insert(0, '/tmp/evil'); import evil",
        "import shutil; shutil.rmtree('src')",
        f"import os; os.remove('{NOBODY}/notes.txt')",
    ],
)
def test_code_that_reaches_further_asks(code: str) -> None:
    assert judge(f'python3 -c "{code}"').decision == "ask"


@pytest.mark.parametrize(
    "code",
    [
        "import pathlib; p = pathlib.Path('src/a.py'); p.write_text(p.read_text().replace('a', 'b'))",
        "import os; os.makedirs('out', exist_ok=True); os.remove('build/x.o')",
        "import shutil; shutil.rmtree('build', ignore_errors=True)",
        "import tempfile, os; d = tempfile.mkdtemp(); open(os.path.join(d, 'x'), 'w').close()",
        "import sqlite3; c = sqlite3.connect(':memory:'); c.execute('create table t(a)'); c.execute('drop table t')",
        "from PIL import Image; Image.open('a.png').save('b.png')",
        "print(getattr(int, 'real', None))",
    ],
)
def test_work_in_the_working_folder_does_not(code: str) -> None:
    assert judge(f'python3 -c "{code}"').decision == "allow"
