"""Generator, types and packaging. Needs mypy, hatchling and pip in this Python; reaches no network."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path
from shutil import copytree

HERE = Path(__file__).resolve().parents[1]
BARE = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}


def run(*command: str, cwd: Path = HERE, env: dict[str, str] = BARE) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, timeout=300)


def test_generated_code_is_what_openapi_says() -> None:
    assert run(sys.executable, "scripts/generate.py", "--check").returncode == 0


def test_generator_tells_a_difference_and_writes_it(tmp_path: Path) -> None:
    (tmp_path / "python/src/packtrain").mkdir(parents=True)
    copytree(HERE / "scripts", tmp_path / "python/scripts")
    document = json.loads((HERE.parent / "openapi.json").read_text("utf-8"))
    document["components"]["schemas"]["TapRequest"]["properties"]["class"] = {
        "type": "boolean", "description": 'A "word" of Python.\\', "x-packtrain-number": 9
    }  # fmt: skip
    (tmp_path / "openapi.json").write_text(json.dumps(document), "utf-8")
    generator = str(tmp_path / "python/scripts/generate.py")
    before = run(sys.executable, generator, "--check")
    assert before.returncode == 1 and "is not what openapi.json says: run scripts/generate.py" in before.stderr
    assert run(sys.executable, generator).returncode == 0
    assert run(sys.executable, generator, "--check").returncode == 0
    text = (tmp_path / "python/src/packtrain/_generated.py").read_text("utf-8")
    compile(text, "_generated.py", "exec")
    assert text.count("class_: bool | None = None") == 2 and text.count('"class": class_') == 2

    document["components"]["schemas"]["TapRequest"]["properties"]["class"]["type"] = "array"
    (tmp_path / "openapi.json").write_text(json.dumps(document), "utf-8")
    assert "no Python type for" in run(sys.executable, generator).stderr


def test_types_are_strict_for_us_and_for_users(tmp_path: Path) -> None:
    mypy = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path), "--warn-unused-ignores"]
    checked = run(*mypy, "src", "scripts/generate.py", "tests/typed_consumer.py")
    assert (checked.returncode, checked.stderr) == (0, ""), checked.stdout


def test_a_wheel_has_everything_and_works_by_itself(tmp_path: Path) -> None:
    source = tmp_path / "source"
    copytree(HERE, source)
    built = run(
        sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "--no-index",
        "-w", str(tmp_path), str(source),
    )  # fmt: skip
    assert built.returncode == 0, built.stderr
    wheel = tmp_path / "packtrain_sdk-0.1.0-py3-none-any.whl"
    installed = tmp_path / "installed"
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(installed)
    files = {str(path.relative_to(installed)) for path in installed.rglob("*") if path.is_file()}
    modules = {f"packtrain/{path.name}" for path in (HERE / "src/packtrain").iterdir() if path.is_file()}
    assert "packtrain/py.typed" in modules
    info = "packtrain_sdk-0.1.0.dist-info"
    assert files == modules | {f"{info}/{name}" for name in (
        "METADATA", "RECORD", "WHEEL", "entry_points.txt", "licenses/LICENSE")}  # fmt: skip
    metadata = (installed / info / "METADATA").read_text("utf-8")
    assert "Requires-Python: >=3.10" in metadata and "Requires-Dist" not in metadata
    (tmp_path / "test_tool.py").write_text(
        "import asyncio, packtrain\n"
        "def test_tool(mock_trailblaze, make_mock_trailblaze):\n"
        f"    assert packtrain.__file__.startswith({str(installed)!r})\n"
        "    asyncio.run(mock_trailblaze.client.tap(text='x'))\n"
        "    assert mock_trailblaze.names == ['tap']\n"
    )
    tested = run(
        sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_tool.py",
        cwd=tmp_path, env={**BARE, "PYTHONPATH": str(installed)},
    )  # fmt: skip
    assert "1 passed" in tested.stdout, tested.stdout
