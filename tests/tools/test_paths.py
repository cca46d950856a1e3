import pytest

from hermes.protocol.errors import ToolError
from hermes.tools.paths import brief, existing


@pytest.mark.parametrize(
    ("path", "says"),
    [
        ("src/mian.py", "src/mian.py does not exist. Did you mean src/main.py?"),
        ("SRC/main.py", "SRC/main.py does not exist. Did you mean src?"),
        ("lib/deep/x.py", "lib/deep/x.py does not exist. . holds: README.md, src/"),
        ("src/main.py/x", "src/main.py/x does not exist."),
        (" ", "path is empty or has a NUL in it; name a file."),
        ("a\0b", "path is empty or has a NUL in it; name a file."),
    ],
)
async def test_a_path_that_is_missing_suggests_what_is_there(ctx, tmp_path, path, says):
    (tmp_path / "src").mkdir()
    (tmp_path / "src/main.py").touch()
    (tmp_path / "README.md").touch()
    with pytest.raises(ToolError) as error:
        await existing(ctx, path)
    assert str(error.value) == says


def test_a_path_is_short_within_its_folder_only():
    assert brief("/w/a/b", "/w") == "a/b"
    assert brief("/w", "/w") == "."
    assert brief("/wide/a", "/w") == "/wide/a"
    assert brief("/a", "/") == "a"
