"""`python -m tools.site [FOLDER]` builds the documentation site; a broken link or anchor ends it with exit status 1."""

from __future__ import annotations

import argparse
import logging
import os
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.site", description="Build the documentation site.")
    parser.add_argument("folder", nargs="?", type=Path, default=ROOT / "build" / "site", help="default: build/site")
    folder: Path = parser.parse_args().folder
    # The theme's announcement about other projects, which it prints on import.
    os.environ.setdefault("NO_MKDOCS_2_WARNING", "true")
    from mkdocs.commands.build import build
    from mkdocs.config import load_config
    from mkdocs.exceptions import Abort

    logging.basicConfig(level=logging.WARNING, format="%(levelname)s: %(message)s")
    try:
        build(load_config(str(ROOT / "mkdocs.yml"), site_dir=str(folder.absolute())))
    except Abort as error:
        print(error, file=sys.stderr)
        return 1
    # Not from its files: browsers do not follow links to folders there, and the search reads its index over HTTP.
    print(f"{folder}; to read it: python -m http.server --directory {folder}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
