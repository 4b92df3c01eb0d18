"""The Tiled format: every way to write the same map reads the same, and every fault is one sentence that says where."""

from __future__ import annotations

import base64
import gzip
import json
import struct
import zlib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from localville.errors import MapError
from localville.world.grid import Tile
from localville.world.tiled import load_town
from localville.world.tmj import TiledMap, read_tmj
from tests.world.drawing import SIDE, Drawing, draw, house, layer, save, shape


def read(folder: Path, drawing: Drawing) -> TiledMap:
    return read_tmj(save(folder, drawing))


def fault(folder: Path, drawing: Drawing) -> str:
    with pytest.raises(MapError) as caught:
        load_town(save(folder, drawing))
    return str(caught.value)


def packed(numbers: list[int]) -> bytes:
    return struct.pack(f"<{len(numbers)}I", *numbers)


@pytest.mark.parametrize(
    ("compression", "press"),
    [("", bytes), ("zlib", zlib.compress), ("gzip", gzip.compress)],
    ids=["plain", "zlib", "gzip"],
)
def test_base64_data_reads_like_plain_numbers(tmp_path: Path, compression: str, press: Any) -> None:
    drawing = house()
    plain = read(tmp_path, drawing).tile_layers["collision"]
    numbers = layer(drawing, "collision")["data"]
    text = base64.b64encode(press(packed(numbers))).decode()
    layer(drawing, "collision").update(data=text, encoding="base64", compression=compression)
    assert read(tmp_path, drawing).tile_layers["collision"].tolist() == plain.tolist()


def test_mirrored_tiles_are_the_same_tiles(tmp_path: Path) -> None:
    drawing = draw("#.")
    layer(drawing, "collision")["data"] = [0x80000001, 0x40000001]
    assert read(tmp_path, drawing).tile_layers["collision"].tolist() == [[1, 1]]


def test_layers_in_groups_are_found(tmp_path: Path) -> None:
    drawing = house()
    drawing["layers"] = [{"id": 9, "name": "all", "type": "group", "layers": drawing["layers"]}]
    assert "collision" in read(tmp_path, drawing).tile_layers
    assert [item.name for item in read(tmp_path, drawing).object_layers["arenas"]] == ["kitchen", "study"]


def test_a_tileset_may_lie_in_its_own_file(tmp_path: Path) -> None:
    (tmp_path / "marks.tsj").write_text('{"name": "marks", "tilecount": 1}', encoding="utf-8")
    drawing = house()
    drawing["tilesets"] = [{"firstgid": 1, "source": "marks.tsj"}]
    assert read(tmp_path, drawing).tile_layers["collision"].max() == 1


def test_a_byte_order_mark_does_no_harm(tmp_path: Path) -> None:
    path = save(tmp_path, house())
    path.write_text("\ufeff" + path.read_text(encoding="utf-8"), encoding="utf-8")
    assert read_tmj(path).width == 9


# Which tiles a shape covers


def cover(folder: Path, item: Drawing) -> list[Tile]:
    drawn = read(folder, draw("....\n....\n....", objects=[item]))
    return list(drawn.tiles_of(drawn.object_layers["objects"][0]))


def test_a_rectangle_covers_the_tiles_whose_centres_it_holds(tmp_path: Path) -> None:
    assert cover(tmp_path, shape("a", 1, 1, 2, 1)) == [(1, 1), (2, 1)]
    assert cover(tmp_path, shape("a", 0.6, 0.4, 1, 1)) == [(1, 0)]


def test_rectangles_side_by_side_never_share_a_tile(tmp_path: Path) -> None:
    left, right = cover(tmp_path, shape("a", 0, 0, 1.5, 1)), cover(tmp_path, shape("a", 1.5, 0, 2.5, 1))
    assert (left, right) == ([(0, 0)], [(1, 0), (2, 0), (3, 0)])


def test_a_small_shape_or_a_point_covers_the_tile_under_it(tmp_path: Path) -> None:
    assert cover(tmp_path, shape("a", 2.1, 1.1, 0.2, 0.2)) == [(2, 1)]
    assert cover(tmp_path, shape("a", 2, 1, 0, 0, point=True)) == [(2, 1)]


def test_a_polygon_covers_the_tiles_whose_centres_it_holds(tmp_path: Path) -> None:
    corner = [{"x": 0, "y": 0}, {"x": 3 * SIDE, "y": 0}, {"x": 0, "y": 3 * SIDE}]
    assert cover(tmp_path, shape("a", 0, 0, 0, 0, polygon=corner)) == [(0, 0), (1, 0), (0, 1)]


def test_an_ellipse_leaves_its_corners_out(tmp_path: Path) -> None:
    covered = cover(tmp_path, shape("a", 0, 0, 4, 3, ellipse=True))
    assert (1, 1) in covered
    assert (0, 0) not in covered


def test_a_tile_object_stands_on_its_lower_edge(tmp_path: Path) -> None:
    assert cover(tmp_path, shape("a", 1, 2, gid=1)) == [(1, 1)]


def test_what_reaches_over_the_rim_covers_what_is_on_the_map(tmp_path: Path) -> None:
    assert cover(tmp_path, shape("a", -5, 2, 6, 9)) == [(0, 2)]
    assert cover(tmp_path, shape("a", 1e300, 0, 5, 5)) == []


# Faults


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"orientation": "isometric"}, "map 'small.tmj': the map is isometric. Set Map > Map Properties to Orthogonal"),
        ({"infinite": True}, "map 'small.tmj': the map is infinite. Untick Infinite under Map > Map Properties"),
        ({"width": 5000}, "map 'small.tmj': its size is 5000 × 6 tiles. Use Map > Resize Map: 1 to 1000 tiles a side"),
        ({"height": 0}, "map 'small.tmj': its size is 9 × 0 tiles. Use Map > Resize Map: 1 to 1000 tiles a side"),
        ({"width": "9"}, "map 'small.tmj': 'width': input should be a valid integer. Save it again from Tiled as .tmj"),
        ({"layers": None}, "map 'small.tmj': 'layers': input should be a valid list. Save it again from Tiled as .tmj"),
        (
            {"tilesets": []},
            "map 'small.tmj', layer 'collision': tile number 1 at column 1, row 1 belongs to no tileset. "
            "Erase that tile, or add its tileset in Tiled",
        ),
        (
            {"tilesets": [{"firstgid": 1, "source": "../marks.tsj"}]},
            "map 'small.tmj', tileset '../marks.tsj': the tileset lies outside the map's folder. "
            "Copy it beside the map",
        ),
        (
            {"tilesets": [{"firstgid": 1, "source": "/etc/marks.tsj"}]},
            "map 'small.tmj', tileset '/etc/marks.tsj': the tileset lies outside the map's folder. "
            "Copy it beside the map",
        ),
        (
            {"tilesets": [{"firstgid": 1, "source": "marks.tsx"}]},
            "map 'small.tmj', tileset 'marks.tsx': only .tsj tilesets are read. Use Export As > .tsj, or Embed Tileset",
        ),
        (
            {"tilesets": [{"firstgid": 1, "tilecount": 1, "image": "../../town.png"}]},
            "map 'small.tmj': its picture '../../town.png' lies outside the map's folder. Copy it beside the map",
        ),
        (
            {"tilesets": [{"firstgid": 1, "tilecount": 10**9}]},
            "map 'small.tmj': the tileset claims 1000000000 tiles. Save the tileset again from Tiled",
        ),
    ],
)
def test_a_map_that_cannot_be_used_is_refused(tmp_path: Path, change: Drawing, sentence: str) -> None:
    assert fault(tmp_path, {**house(), **change}) == sentence


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"data": [0, 0]}, "the layer's data has 2 tiles instead of 54. Save the map again from Tiled"),
        ({"data": None}, "the layer has no data. Save the map again from Tiled"),
        ({"data": [-1] * 54}, "a tile number is no 32-bit number. Save the map again from Tiled"),
        ({"data": "AAAA"}, "the data's encoding 'csv' is unknown. Set Tile Layer Format to CSV or Base64 (zlib)"),
        (
            {"data": "AAAA", "encoding": "base64", "compression": "zstd"},
            "the data's compression 'zstd' is unknown. Set Tile Layer Format to CSV or Base64 (zlib)",
        ),
        ({"data": "AAAA", "encoding": "base64"}, "the layer's data has not the 216 bytes of 54 tiles"),
        ({"data": "?!", "encoding": "base64"}, "the layer's data cannot be unpacked"),
        ({"data": "AAAA", "encoding": "base64", "compression": "zlib"}, "the layer's data cannot be unpacked"),
        ({"width": 8}, "the layer is 8 × 6 tiles and the map 9 × 6. Use Map > Resize Map in Tiled"),
        ({"offsetx": 4}, "the layer is shifted. Set its Horizontal and Vertical Offset to 0 in Tiled"),
    ],
)
def test_a_layer_that_cannot_be_read_is_refused(tmp_path: Path, change: Drawing, sentence: str) -> None:
    drawing = house()
    layer(drawing, "collision").update(change)
    assert fault(tmp_path, drawing).startswith(f"map 'small.tmj', layer 'collision': {sentence}")


def test_data_that_unpacks_to_far_too_much_is_refused_without_unpacking_it(tmp_path: Path) -> None:
    drawing = house()
    bomb = base64.b64encode(zlib.compress(bytes(50_000_000))).decode()
    layer(drawing, "collision").update(data=bomb, encoding="base64", compression="zlib")
    assert "has not the 216 bytes of 54 tiles" in fault(tmp_path, drawing)


def test_two_layers_of_one_name_are_refused(tmp_path: Path) -> None:
    drawing = house()
    drawing["layers"].append(dict(layer(drawing, "objects")))
    assert fault(tmp_path, drawing) == (
        "map 'small.tmj', layer 'objects': two layers have this name. Rename or remove one of them in Tiled"
    )


@pytest.mark.parametrize(
    ("item", "sentence"),
    [
        (shape("rug", 2, 2, rotation=45), "the object is turned. Set its Rotation to 0 in Tiled"),
        (shape("rug", 2, 2, polyline=[]), "the object is a line. Draw it as a rectangle, polygon or point"),
        (shape("rug", 2, 2, text={}), "the object is a text. Draw it as a rectangle, polygon or point"),
        (shape("rug", 2, 2, template="a.tj"), "the object is a template. Draw it as a rectangle, polygon or point"),
        (shape("rug", 2, 2, -1), "the object's size is negative. Draw it again in Tiled"),
    ],
)
def test_a_shape_that_is_no_area_is_refused(tmp_path: Path, item: Drawing, sentence: str) -> None:
    drawing = house(objects=[item])
    assert fault(tmp_path, drawing) == f"map 'small.tmj', layer 'objects', object 'rug' (id 4): {sentence}"


def test_what_is_no_json_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "small.tmj"
    for text in ("", "{", "[" * 100_000, '{"width": ' + "9" * 5000 + "}"):
        path.write_text(text, encoding="utf-8")
        with pytest.raises(MapError, match=r"map 'small\.tmj': this is no valid JSON"):
            read_tmj(path)
    path.write_text("[]", encoding="utf-8")
    with pytest.raises(MapError, match="Save it again from Tiled"):
        read_tmj(path)
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(MapError, match="the file cannot be read"):
        read_tmj(path)


def test_a_missing_file_and_a_missing_tileset_are_named(tmp_path: Path) -> None:
    with pytest.raises(MapError, match=r"map 'none\.tmj': the file does not exist\. Check the path: "):
        read_tmj(tmp_path / "none.tmj")
    drawing = {**house(), "tilesets": [{"firstgid": 1, "source": "none.tsj"}]}
    assert "map 'small.tmj', tileset 'none.tsj': the file does not exist" in fault(tmp_path, drawing)


json_values = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=5), st.just([]), st.just({}), st.just([None])
)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_a_mangled_map_is_a_town_or_a_map_error(tmp_path: Path, data: st.DataObject) -> None:
    drawing = house(spawns=[shape("gate", 0, 0)])
    spot: Any = drawing
    while True:
        key = data.draw(st.sampled_from(list(spot) if isinstance(spot, dict) else range(len(spot))))
        if not isinstance(spot[key], dict | list) or not spot[key] or data.draw(st.integers(0, 3)) == 0:
            break
        spot = spot[key]
    spot[key] = data.draw(json_values)
    try:
        town = load_town(save(tmp_path, json.loads(json.dumps(drawing))))
    except MapError as error:
        assert str(error).startswith("map 'small.tmj'")
    else:
        assert town.sectors
