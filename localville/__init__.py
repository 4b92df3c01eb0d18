"""localville: a town of generative agents that runs wholly on your own machine."""

import os

__version__ = "0.1.0"

# Whichever of torch and llama.cpp is loaded first brings the OpenMP both use; by default its threads spin at every
# barrier and collapse beside any other busy process. Measured in docs/log.md; read once when the library is loaded.
os.environ.setdefault("GOMP_SPINCOUNT", "1000")
