"""Walking: distances are the fewest steps, steps fall towards the target, and the cache changes nothing."""

from __future__ import annotations

from collections import deque

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from localville.world import grid as grid_module
from localville.world.grid import Grid, Tile, largest_region, path_length

Walkable = NDArray[np.bool_]


def slow_field(walkable: Walkable, targets: frozenset[Tile]) -> NDArray[np.int32]:
    """The slow twin of `Grid.distance_field`: one tile at a time, from a queue."""
    height, width = walkable.shape
    field = np.full((height, width), -1, dtype=np.int32)
    queue: deque[tuple[int, int]] = deque()
    for x, y in targets:
        if 0 <= x < width and 0 <= y < height and walkable[y, x]:
            field[y, x] = 0
            queue.append((x, y))
    while queue:
        x, y = queue.popleft()
        for a, b in ((x, y - 1), (x + 1, y), (x, y + 1), (x - 1, y)):
            if 0 <= a < width and 0 <= b < height and walkable[b, a] and field[b, a] < 0:
                field[b, a] = field[y, x] + 1
                queue.append((a, b))
    return field


walkables = st.tuples(st.integers(1, 12), st.integers(1, 12)).flatmap(lambda size: arrays(np.bool_, size))
tiles = st.builds(Tile, st.integers(-1, 12), st.integers(-1, 12))


@settings(deadline=None)
@given(walkables, st.frozensets(tiles, max_size=4))
def test_the_field_equals_its_slow_twin(walkable: Walkable, targets: frozenset[Tile]) -> None:
    field = Grid(walkable).distance_field(targets)
    assert field.dtype == np.int32
    assert np.array_equal(field, slow_field(walkable, targets))


@settings(deadline=None)
@given(walkables, st.frozensets(tiles, min_size=1, max_size=4), tiles)
def test_following_next_tile_takes_exactly_the_fewest_steps(
    walkable: Walkable, targets: frozenset[Tile], start: Tile
) -> None:
    grid = Grid(walkable)
    field = grid.distance_field(targets)
    steps = path_length(field, start)
    tile = start
    for left in range(steps, 0, -1):
        step = grid.next_tile(field, tile)
        assert step is not None
        assert abs(step.x - tile.x) + abs(step.y - tile.y) == 1
        assert grid.can_walk(step)
        assert path_length(field, step) == left - 1
        tile = step
    if steps >= 0:
        assert tile in targets
        assert grid.next_tile(field, tile) == tile
    else:
        assert grid.next_tile(field, start) is None


@settings(deadline=None, max_examples=50)
@given(st.tuples(st.integers(1, 6), st.integers(1, 6)).flatmap(lambda size: arrays(np.bool_, size)))
def test_the_largest_region_is_joined_and_no_other_is_larger(walkable: Walkable) -> None:
    region = largest_region(walkable)
    assert not (region & ~walkable).any()
    sizes = {(y, x): (slow_field(walkable, frozenset({Tile(x, y)})) >= 0).sum() for y, x in np.argwhere(walkable)}
    assert region.sum() == max(sizes.values(), default=0)
    if region.any():
        y, x = np.argwhere(region)[0]
        assert np.array_equal(slow_field(walkable, frozenset({Tile(x, y)})) >= 0, region)


def test_among_equal_regions_the_first_in_reading_order_is_taken() -> None:
    assert largest_region(np.array([[True, False, True]])).tolist() == [[True, False, False]]


def test_equal_ways_are_preferred_north_east_south_west() -> None:
    open_ground = Grid(np.ones((5, 5), dtype=np.bool_))
    middle = Tile(2, 2)
    corners = {"ne": Tile(4, 0), "es": Tile(4, 4), "sw": Tile(0, 4), "nw": Tile(0, 0)}
    ways = {
        name: open_ground.next_tile(open_ground.distance_field(frozenset({at})), middle) for name, at in corners.items()
    }
    assert ways == {"ne": Tile(2, 1), "es": Tile(3, 2), "sw": Tile(2, 3), "nw": Tile(2, 1)}


def test_the_nearest_of_several_targets_counts() -> None:
    row = Grid(np.ones((1, 9), dtype=np.bool_))
    field = row.distance_field(frozenset({Tile(0, 0), Tile(8, 0)}))
    assert field.tolist() == [[0, 1, 2, 3, 4, 3, 2, 1, 0]]


def test_a_blocked_target_counts_as_absent() -> None:
    field = Grid(np.array([[True, False]])).distance_field(frozenset({Tile(1, 0)}))
    assert field.tolist() == [[-1, -1]]


def test_off_the_map_there_is_no_way() -> None:
    grid = Grid(np.ones((2, 2), dtype=np.bool_))
    field = grid.distance_field(frozenset({Tile(0, 0)}))
    assert path_length(field, Tile(-1, 0)) == -1
    assert path_length(field, Tile(0, 2)) == -1
    assert grid.next_tile(field, Tile(5, 5)) is None
    assert not grid.can_walk(Tile(-1, 0))


def test_equal_targets_share_one_field_and_nobody_can_write_to_it() -> None:
    grid = Grid(np.ones((3, 3), dtype=np.bool_))
    field = grid.distance_field(frozenset({Tile(1, 1), Tile(0, 0)}))
    assert grid.distance_field(frozenset({Tile(0, 0), Tile(1, 1)})) is field
    with pytest.raises(ValueError, match="read-only"):
        field[0, 0] = 5


def test_a_grid_does_not_change_with_the_array_it_was_made_from() -> None:
    walkable = np.ones((2, 2), dtype=np.bool_)
    grid = Grid(walkable)
    walkable[0, 0] = False
    assert grid.can_walk(Tile(0, 0))


@settings(deadline=None)
@given(st.lists(st.integers(0, 4), max_size=30))
def test_a_full_cache_forgets_but_answers_the_same(columns: list[int]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(grid_module, "FIELDS_KEPT", 2)
        grid = Grid(np.ones((1, 5), dtype=np.bool_))
        for x in columns:
            field = grid.distance_field(frozenset({Tile(x, 0)}))
            assert field[0].tolist() == [abs(x - a) for a in range(5)]
