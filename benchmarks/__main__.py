"""`python -m benchmarks` lists the benchmarks; `python -m benchmarks NAME [options]` runs one."""

from __future__ import annotations

import ast
import runpy
import sys
from pathlib import Path


def main() -> int:
    """Runs the benchmark named first on the command line, or says which there are."""
    folder = Path(__file__).parent
    found = {path.stem: path for path in sorted(folder.glob("*.py")) if not path.stem.startswith("_")}
    name, *options = sys.argv[1:] or [""]
    if name not in found:
        if name:
            print(f"There is no benchmark '{name}'.\n", file=sys.stderr)
        for stem, path in found.items():
            about = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
            print(f"{stem:10} {about.splitlines()[0] if about else ''}")
        print('\nRun one: make bench ARGS="NAME", or .venv/bin/python -m benchmarks NAME; --help tells its options.')
        return 2 if name else 0
    sys.argv = [f"benchmarks {name}", *options]
    runpy.run_module(f"benchmarks.{name}", run_name="__main__")
    return 0


if __name__ == "__main__":
    sys.exit(main())
