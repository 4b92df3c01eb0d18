"""The quantizer as a program of its own: python quantize.py SOURCE TARGET q8_0|q4_0

`prepare.py` runs it by path, so it imports nothing of localville. A process of its own can be stopped by Ctrl-C in the
middle of a C call, and an assertion in C ends it and not the caller. What llama.cpp has to say goes to stderr.
"""

from __future__ import annotations

import ctypes
import os
import sys

NO_LIBRARY = 3
"""Exit code when llama-cpp-python cannot be imported."""


def main(source: str, target: str, kind: str) -> int:
    """Writes the requantized file; returns 0, or 1 when llama.cpp refuses."""
    try:
        import llama_cpp
        from llama_cpp import _logger
    except (ImportError, OSError, RuntimeError) as fault:
        print(fault, file=sys.stderr)
        return NO_LIBRARY
    # Everything: the binding takes llama.cpp's errors for debug messages.
    _logger.set_verbose(True)
    parameters = llama_cpp.llama_model_quantize_default_params()
    parameters.ftype = {"q8_0": llama_cpp.LLAMA_FTYPE_MOSTLY_Q8_0, "q4_0": llama_cpp.LLAMA_FTYPE_MOSTLY_Q4_0}[kind]
    parameters.allow_requantize = True
    parameters.nthread = os.cpu_count() or 1
    code = llama_cpp.llama_model_quantize(os.fsencode(source), os.fsencode(target), ctypes.byref(parameters))
    return 0 if code == 0 else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
