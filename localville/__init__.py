"""localville: a town of generative agents that runs wholly on your own machine."""

__version__ = "0.1.0"
