"""Where one can walk, and how far it is: 4-neighbour moves, one tile a step (PAPER §10).

A distance field says for every tile how many steps the nearest target is away. It is computed once per set of targets
and kept, so that many agents who walk to the same places share it and a walk costs four look-ups a step.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

FIELDS_KEPT = 256
"""Distance fields in the cache. Ours: a town has some 200 objects (PAPER §10); 56 kB a field at 140 × 100 tiles."""


class Tile(NamedTuple):
    """Names a square of the map by column and row, counted from the top left."""

    x: int
    y: int


MOVES = ((0, -1), (1, 0), (0, 1), (-1, 0))
"""North, east, south, west: also the order in which equal ways are preferred."""


class Grid:
    """Holds which tiles can be walked on.

    walkable: bool[height, width], copied and never changed.
    """

    def __init__(self, walkable: NDArray[np.bool_]) -> None:
        self.walkable = np.array(walkable, dtype=np.bool_)
        self.walkable.setflags(write=False)
        self.height: int = self.walkable.shape[0]
        self.width: int = self.walkable.shape[1]
        # A blocked rim, so that the search can add offsets to flat indexes without ever leaving the array.
        self._open = np.pad(self.walkable, 1).ravel()
        self._fields: OrderedDict[frozenset[Tile], NDArray[np.int32]] = OrderedDict()

    def can_walk(self, tile: Tile) -> bool:
        """Whether a tile lies on the map and is free of walls and furniture."""
        x, y = tile
        return 0 <= x < self.width and 0 <= y < self.height and bool(self.walkable[y, x])

    def distance_field(self, targets: frozenset[Tile]) -> NDArray[np.int32]:
        """Steps from every tile to the nearest target: int32[height, width], read-only; -1 where there is no way.

        Targets that cannot be walked on count as absent. Slow twin: `tests/world/test_grid.py`.
        """
        if (known := self._fields.get(targets)) is not None:
            self._fields.move_to_end(targets)
            return known
        field = self._search(targets)
        field.setflags(write=False)
        self._fields[targets] = field
        if len(self._fields) > FIELDS_KEPT:
            self._fields.popitem(last=False)
        return field

    def next_tile(self, field: NDArray[np.int32], tile: Tile) -> Tile | None:
        """The neighbour one step nearer to the targets, the tile itself on a target, nothing where there is no way.

        Among equally near neighbours north comes before east, south and west.
        """
        here = path_length(field, tile)
        if here <= 0:
            return tile if here == 0 else None
        for dx, dy in MOVES:
            beside = Tile(tile.x + dx, tile.y + dy)
            if self.can_walk(beside) and field[beside.y, beside.x] == here - 1:
                return beside
        raise AssertionError("a distance field always falls towards its targets")

    def _search(self, targets: frozenset[Tile]) -> NDArray[np.int32]:
        """Breadth-first search, one whole ring of equally distant tiles at a time."""
        pitch = self.width + 2
        steps = np.full(self._open.size, -1, dtype=np.int32)
        starts = [(y + 1) * pitch + x + 1 for x, y in targets if self.can_walk(Tile(x, y))]
        ring = np.array(starts, dtype=np.int64)
        offsets = np.array([-pitch, 1, pitch, -1])[:, None]
        free = self._open.copy()
        steps[ring] = 0
        free[ring] = False
        distance = 0
        while ring.size:
            distance += 1
            beside = (ring + offsets).ravel()
            beside = beside[free[beside]]
            free[beside] = False
            # Two tiles of a ring share neighbours: each place writes its number, and the last writer keeps it.
            steps[beside] = np.arange(beside.size, dtype=np.int32)
            ring = beside[steps[beside] == np.arange(beside.size, dtype=np.int32)]
            steps[ring] = distance
        return steps.reshape(self.height + 2, pitch)[1:-1, 1:-1].copy()


def path_length(field: NDArray[np.int32], tile: Tile) -> int:
    """Steps from a tile to the nearest target of a distance field; -1 where there is no way."""
    height, width = field.shape
    return int(field[tile.y, tile.x]) if 0 <= tile.x < width and 0 <= tile.y < height else -1


def largest_region(walkable: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """The biggest set of tiles that can be walked between, as a mask; the first in reading order among equals."""
    height, width = walkable.shape
    pitch = width + 2
    free = np.pad(walkable, 1).ravel().tolist()
    best: list[int] = []
    for start in np.flatnonzero(np.pad(walkable, 1)).tolist():
        if not free[start]:
            continue
        free[start] = False
        region, queue = [start], deque([start])
        while queue:
            here = queue.popleft()
            for beside in (here - pitch, here + 1, here + pitch, here - 1):
                if free[beside]:
                    free[beside] = False
                    region.append(beside)
                    queue.append(beside)
        if len(region) > len(best):
            best = region
    mask = np.zeros((height + 2) * pitch, dtype=np.bool_)
    mask[best] = True
    return mask.reshape(height + 2, pitch)[1:-1, 1:-1].copy()
