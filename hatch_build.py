"""Steps of the build: the wheel holds large texts and data compressed, has the module in C compiled, and is compressed
slowly. ``python hatch_build.py`` compiles the module in C for a checkout.

A wheel for every platform is built with PUBCHECK_PURE=1 in the environment, and where there is no C compiler.
"""

from __future__ import annotations

import bz2
import json
import lzma
import os
import shutil
import sys
import tempfile
from pathlib import Path
from struct import pack_into, unpack_from
from typing import Any
from zipfile import ZipFile
from zlib import crc32

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

TEXTS = ("rules/*.md", "pubcheck/consumers/*.toml")
"""The files that `pubcheck/bundled_texts.py` reads from one."""
FIRST_SECTION = "## What happens\n"
"""Front matter and title of a rule's page, which come before, are compiled into `pubcheck/rulebook/_index.py`."""
DATA = ("pubcheck/postgres/builtins/extensions.json",)
"""Files that few runs read; xz takes three quarters of the space that the wheel's own compression takes."""

STREAM = "pubcheck/stream"
SOURCES = f"{STREAM}/_*.[ch]"
"""The files of the module in C, in the order of which `whole.py` takes their checksum."""


class Wheel(BuildHookInterface):
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        self._folder = Path(tempfile.mkdtemp())
        module = compiled(Path(self.root), self._folder)
        if version == "editable":
            # It reads the files of the checkout.
            if module is not None:
                put_next_to_source(module, Path(self.root))
            return
        if module is not None:
            build_data["force_include"][str(module)] = f"pubcheck/stream/{module.name}"
            build_data.update(pure_python=False, infer_tag=True)
        texts = dict(bundled(path) for pattern in TEXTS for path in sorted(Path(self.root).glob(pattern)))
        content = bz2.compress(json.dumps(texts, ensure_ascii=False).encode())
        self._include("pubcheck/texts.bz2", content, build_data)
        for path in DATA:
            content = lzma.compress(Path(self.root, path).read_bytes(), preset=9)
            self._include(f"{path}.xz", content, build_data)

    def _include(self, path: str, content: bytes, build_data: dict[str, Any]) -> None:
        file = self._folder / Path(path).name
        file.write_bytes(content)
        build_data["force_include"][str(file)] = path

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        shutil.rmtree(self._folder)
        if version != "editable":
            recompress(Path(artifact_path))


def bundled(path: Path) -> tuple[str, str]:
    """Return the name and the text of a file of ``TEXTS``: of a rule's page the code, and the sections."""
    text = path.read_text("utf-8")
    if path.suffix == ".md":
        return path.name.partition("-")[0], text[text.index(FIRST_SECTION) :]
    return path.stem, text


def compiled(root: Path, folder: Path) -> Path | None:
    """Return the module that the sources in C become, in a folder; None, and say so, if they are not to be compiled or
    cannot be. Modules compiled from equal sources are equal, wherever these are."""
    if os.environ.get("PUBCHECK_PURE", "0") != "0":
        print("PUBCHECK_PURE is set: pubcheck is built without its readers in C", file=sys.stderr)
        return None
    from setuptools import Distribution, Extension
    from setuptools.command.build_ext import build_ext

    sources = sorted(root.glob(SOURCES))
    extension = Extension(
        "pubcheck.stream._readers",
        [str(source) for source in sources if source.suffix == ".c"],
        define_macros=[("SOURCE_CHECKSUM", str(crc32(b"".join(map(Path.read_bytes, sources)))))],
        extra_compile_args=["-g0", f"-ffile-prefix-map={root}=."] if os.name == "posix" else [],
        extra_link_args=["-s"] if sys.platform == "linux" else [],
        optional=True,
    )
    command = build_ext(Distribution({"ext_modules": [extension]}))
    command.build_lib = command.build_temp = str(folder)
    command.ensure_finalized()
    command.run()
    module = Path(command.get_ext_fullpath(extension.name))
    if module.exists():
        return module
    print(f"{SOURCES} cannot be compiled: pubcheck decodes streams in Python, which takes longer", file=sys.stderr)
    return None


def put_next_to_source(module: Path, root: Path) -> None:
    """Put a compiled module into a checkout. Processes that have loaded the one before keep it."""
    place = root / STREAM / module.name
    os.replace(shutil.copy(module, place.with_name(f"{module.name}.new")), place)


def recompress(path: Path) -> None:
    """Compress the files of an archive again, by libdeflate: 3 % smaller than zlib can, in a second.

    Entries of the directory keep all but two fields: the compressed size, and the place of the file.
    """
    from deflate import deflate_compress

    archive = path.read_bytes()
    files, directory = bytearray(), bytearray()
    with ZipFile(path) as reader:
        place = reader.start_dir
        for file in reader.infolist():
            size = 46 + sum(unpack_from("<3H", archive, place + 28))
            entry = bytearray(archive[place : place + size])
            place += size
            data = deflate_compress(reader.read(file), 12)
            pack_into("<I", entry, 20, len(data))
            pack_into("<I", entry, 42, len(files))
            directory += entry
            file.compress_size = len(data)
            files += file.FileHeader() + data
    end = bytearray(archive[place:])
    pack_into("<I", end, 16, len(files))
    path.write_bytes(files + directory + end)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        result = compiled(Path(__file__).parent.resolve(), Path(scratch))
        if result is None:
            sys.exit(1)
        put_next_to_source(result, Path(__file__).parent)
