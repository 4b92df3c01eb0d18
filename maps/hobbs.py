"""The plan of the town `hobbs`: ground, walls and floors as a drawing, then rooms, furniture and ways in.

`build.py` turns it into `hobbs.tmj`. Positions are tiles from the top left.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

NAME = "hobbs"
TITLE = "Hobbs Corner"

# . grass   , path   ~ water   h hedge   + doorway
# C D A L   walls of cafe, dorm, apartment, library
# w planks   k kitchen tiles   b bathroom tiles   m bedroom carpet   p parquet
PLAN = [
    "...................,....................",
    "..CCCCCCCCCCCCCCCC.,.DDDDDDDDDDDDDDDDDD.",
    "..CwwwwwwwwwCkkkkC.,.DmmmmmDmmmmmDbbbbD.",
    "..CwwwwwwwwwCkkkkC.,.DmmmmmDmmmmmDbbbbD.",
    "..CwwwwwwwwwCkkkkC.,.DmmmmmDmmmmmDbbbbD.",
    "..CwwwwwwwwwCkkkkC.,.DmmmmmDmmmmmDbbbbD.",
    "..Cwwwwwwwww+kkkkC.,.DDD+DDDDD+DDD+DDDD.",
    "..CwwwwwwwwwCkkkkC.,.DwwwwwwwwwwwwwwwwD.",
    "..CwwwwwwwwwCkkkkC.,.DwwwwwwwwwwwwwwwwD.",
    "..CwwwwwwwwwCkkkkC.,.DwwwwwwwwwwwwwwwwD.",
    "..CwwwwwwwwwCkkkkC.,.DwwwwwwwwwwwwwwwwD.",
    "..CwwwwwwwwwCkkkkC.,.DwwwwwwwwwwwwwwwwD.",
    "..CCCCCC++CCCCCCCC.,.DDDDDDDD++DDDDDDDD.",
    "........,,.........,.........,,.........",
    ",,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,",
    ",,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,",
    "..........,.........,,..........,.......",
    "..AAAAAAAA+AAAA.hhhh,,hhhhh.LLLL+LLLLLL.",
    "..AkkkkkAwwwwwA.h...,,....h.LpppppppppL.",
    "..AkkkkkAwwwwwA.h,,,,,,,,,h.LpppppppppL.",
    "..Akkkkk+wwwwwA.h,.......,h.LpppppppppL.",
    "..AkkkkkAwwwwwA.h,..~~~~~,h.LpppppppppL.",
    "..AAA+AAAAAAA+A.h,..~~~~~,h.LpppppppppL.",
    "..AmmmmmmAbbbbA.h,..~~~~~,h.LpppppppppL.",
    "..AmmmmmmAbbbbA.h,..~~~~~,h.LpppppppppL.",
    "..AmmmmmmAbbbbA.h,.......,h.LpppppppppL.",
    "..AmmmmmmAbbbbA.h,,,,,,,,,h.LpppppppppL.",
    "..AAAAAAAAAAAAA.hhhhhhhhhhh.LLLLLLLLLLL.",
    "........................................",
    "........................................",
]


class Room(NamedTuple):
    """Draws a rectangle of tiles as an arena with its norms."""

    address: str
    x: int
    y: int
    width: int
    height: int
    norms: Mapping[str, str | int] = MappingProxyType({})


class Item(NamedTuple):
    """Places a piece of furniture; without a name it is mere decoration. x, y: its top left base tile."""

    sprite: str
    x: int
    y: int
    name: str = ""
    idle: str = ""
    affords: str = ""
    capacity: int = 1


SECTORS = (
    Room("Hobbs Cafe", 2, 1, 16, 12, {"note": "A cafe where people of the town meet."}),
    Room("Dorm", 21, 1, 18, 12, {"note": "A house where students live."}),
    Room("Isabella's apartment", 2, 17, 13, 11, {"note": "Where Isabella Rodriguez lives."}),
    Room("Park", 16, 17, 11, 11, {"note": "A small public park."}),
    Room("Library", 28, 17, 11, 11, {"note": "The public library."}),
)

CAFE_HOURS: dict[str, str | int] = {"open": "08:00", "close": "20:00"}
ALONE: dict[str, str | int] = {"note": "One person at a time.", "capacity": 1}

ROOMS = (
    Room("Hobbs Cafe:cafe", 3, 2, 9, 10, {"note": "Open to guests from 08:00 to 20:00.", **CAFE_HOURS}),
    Room("Hobbs Cafe:kitchen", 13, 2, 4, 10, {"note": "For the staff of the cafe."}),
    Room("Dorm:Maria Lopez's room", 22, 2, 5, 4, {"private_to": "Maria Lopez"}),
    Room("Dorm:Klaus Mueller's room", 28, 2, 5, 4, {"private_to": "Klaus Mueller"}),
    Room("Dorm:bathroom", 34, 2, 4, 4, ALONE),
    Room("Dorm:common room", 22, 7, 16, 5),
    Room("Isabella's apartment:kitchen", 3, 18, 5, 4, {"private_to": "Isabella Rodriguez"}),
    Room("Isabella's apartment:living room", 9, 18, 5, 4, {"private_to": "Isabella Rodriguez"}),
    Room("Isabella's apartment:bedroom", 3, 23, 6, 4, {"private_to": "Isabella Rodriguez"}),
    Room("Isabella's apartment:bathroom", 10, 23, 4, 4, {"private_to": "Isabella Rodriguez", **ALONE}),
    Room("Park:garden", 16, 17, 11, 11),
    Room(
        "Library:reading room",
        29,
        18,
        9,
        9,
        {"note": "Open from 08:00 to 21:00; people are quiet here.", "open": "08:00", "close": "21:00"},
    ),
)

ITEMS = (
    # Hobbs Cafe: the counter parts the barista's side, at the coffee machine, from the guests.
    Item("coffee machine", 4, 2, "coffee machine", "off", "making coffee"),
    Item("sink", 3, 2, "bar sink", "off", "washing cups"),
    Item("cake display", 6, 2, "cake display", "full", "taking a piece of cake", 2),
    Item("notice board", 8, 2, "notice board", "up to date", "reading and pinning up notices"),
    Item("piano", 10, 2, "piano", "idle", "playing music"),
    Item("counter", 3, 4, "counter", "clean", "ordering, serving and paying", 4),
    Item("round table", 4, 7, "cafe table 1", "free", "sitting with food and drinks", 4),
    Item("round table", 9, 6, "cafe table 2", "free", "sitting with food and drinks", 4),
    Item("round table", 4, 10, "cafe table 3", "free", "sitting with food and drinks", 4),
    Item("round table", 10, 10, "cafe table 4", "free", "sitting with food and drinks", 4),
    Item("chair east", 3, 7),
    Item("chair west", 5, 7),
    Item("chair east", 8, 6),
    Item("chair west", 10, 6),
    Item("chair east", 3, 10),
    Item("chair west", 5, 10),
    Item("chair east", 9, 10),
    Item("chair west", 11, 10),
    Item("stool", 10, 3),
    Item("plant", 7, 11),
    Item("plant", 11, 4),
    Item("rug green", 6, 8),
    Item("mat", 36, 4),
    Item("mat", 10, 25),
    Item("menu board", 5, 1),
    Item("stove", 13, 2, "stove", "off", "cooking and baking"),
    Item("sink", 14, 2, "kitchen sink", "off", "washing dishes and getting water"),
    Item("work top", 15, 2, "work top", "clean", "preparing food"),
    Item("fridge", 16, 2, "refrigerator", "closed", "storing food"),
    Item("long table", 14, 7, "kitchen table", "clean", "preparing food", 2),
    Item("crates", 16, 11),
    Item("crates", 16, 10),
    Item("crates", 13, 11),
    # Dorm
    Item("bed blue", 22, 2, "bed", "made", "sleeping"),
    Item("desk", 24, 2, "desk", "tidy", "studying and writing"),
    Item("bookshelf", 25, 2, "bookshelf", "in order", "reading books"),
    Item("closet", 26, 2, "closet", "closed", "getting dressed"),
    Item("chair north", 24, 3),
    Item("rug", 24, 4),
    Item("bed green", 28, 2, "bed", "made", "sleeping"),
    Item("desk", 30, 2, "desk", "tidy", "studying and writing"),
    Item("bookshelf", 31, 2, "bookshelf", "in order", "reading books"),
    Item("closet", 32, 2, "closet", "closed", "getting dressed"),
    Item("chair north", 30, 3),
    Item("plant", 32, 5),
    Item("shower", 37, 2, "shower", "off", "taking a shower"),
    Item("toilet", 36, 2, "toilet", "free", "using the toilet"),
    Item("basin", 35, 2, "bathroom sink", "off", "washing and brushing teeth"),
    Item("television", 26, 7, "television", "off", "watching TV", 4),
    Item("couch", 26, 10, "couch", "free", "resting and talking", 2),
    Item("rug", 26, 8),
    Item("square table", 32, 9, "common room table", "free", "eating and talking together", 6),
    Item("chair east", 31, 9),
    Item("chair west", 34, 9),
    Item("chair east", 31, 10),
    Item("chair west", 34, 10),
    Item("sink", 35, 7, "kitchen sink", "off", "washing dishes and getting water"),
    Item("stove", 36, 7, "stove", "off", "cooking"),
    Item("fridge", 37, 7, "refrigerator", "closed", "storing food"),
    Item("plant", 22, 7),
    Item("plant", 22, 11),
    Item("plant", 37, 11),
    # Isabella's apartment
    Item("stove", 3, 18, "stove", "off", "cooking"),
    Item("sink", 4, 18, "kitchen sink", "off", "washing dishes and getting water"),
    Item("fridge", 5, 18, "refrigerator", "closed", "storing food"),
    Item("long table", 4, 20, "kitchen table", "free", "eating meals", 3),
    Item("chair east", 3, 20),
    Item("chair west", 6, 20),
    Item("bookshelf", 9, 18, "bookshelf", "in order", "reading books"),
    Item("television", 11, 18, "television", "off", "watching TV", 3),
    Item("cupboard", 13, 18, "tool cupboard", "closed", "fetching tools"),
    Item("couch", 11, 20, "couch", "free", "resting and talking", 2),
    Item("desk", 3, 23, "desk", "tidy", "writing and planning"),
    Item("chair north", 3, 24),
    Item("double bed", 6, 23, "bed", "made", "sleeping", 2),
    Item("closet", 8, 23, "closet", "closed", "getting dressed"),
    Item("rug", 4, 25),
    Item("plant", 8, 26),
    Item("shower", 10, 23, "shower", "off", "taking a shower"),
    Item("toilet", 11, 23, "toilet", "free", "using the toilet"),
    Item("basin", 12, 23, "bathroom sink", "off", "washing and brushing teeth"),
    # Park
    Item("bench", 20, 20, "bench by the pond", "empty", "sitting and watching the water", 2),
    Item("pond", 20, 21, "pond", "calm", "watching the ducks", 6),
    Item("oak", 18, 22, "oak tree", "full of birds", "resting in the shade", 3),
    Item("bench", 18, 25, "bench under the oak", "empty", "sitting in the shade", 2),
    Item("flower bed", 18, 20, "flower bed", "in bloom", "gardening", 2),
    Item("picnic table", 23, 18, "picnic table", "free", "having a picnic", 4),
    Item("flower bed", 22, 25),
    # Library
    Item("shelf history", 29, 18, "history shelf", "in order", "finding history books", 3),
    Item("shelf science", 33, 18, "science shelf", "in order", "finding science books", 3),
    Item("shelf fiction", 29, 21, "fiction shelf", "in order", "finding novels", 3),
    Item("computer desk", 37, 18, "computer desk", "off", "searching the catalog and writing on the computer"),
    Item("chair north", 37, 19),
    Item("reading table", 34, 21, "reading table 1", "free", "reading and studying", 4),
    Item("reading table", 34, 24, "reading table 2", "free", "reading and studying", 4),
    Item("chair east", 33, 21),
    Item("chair west", 36, 21),
    Item("chair east", 33, 25),
    Item("chair west", 36, 25),
    Item("counter short", 29, 24, "front desk", "attended", "borrowing and returning books", 2),
    Item("armchair", 29, 26, "armchair", "free", "reading in comfort"),
    Item("plant", 37, 26),
    Item("rug blue", 32, 22),
    # Windows, pictures and signs on the walls
    *(Item("window", x, 12) for x in (3, 5, 11, 14, 23, 26, 33, 36)),
    *(Item("window", x, 27) for x in (4, 7, 11, 30, 33, 36)),
    *(Item("window", x, 1) for x in (23, 29)),
    Item("painting", 9, 1),
    Item("painting dusk", 32, 6),
    Item("sign cup", 8, 12),
    Item("mailbox", 12, 16),
    # Trees and lamps along the streets
    *(Item("tree", x, y) for x, y in ((0, 2), (1, 6), (0, 10), (18, 4), (20, 8), (18, 11), (39, 4), (39, 10))),
    *(
        Item("apple tree", x, y)
        for x, y in ((0, 18), (1, 22), (0, 26), (15, 19), (15, 25), (27, 21), (27, 26), (39, 20))
    ),
    *(Item("fir", x, y) for x, y in ((39, 25), (4, 29), (11, 29), (18, 29), (24, 29), (31, 29), (37, 29))),
    *(Item("bush", x, y) for x, y in ((4, 13), (13, 13), (24, 13), (36, 13), (5, 16), (26, 16), (36, 16), (8, 28))),
    *(Item("lamp", x, y) for x, y in ((6, 13), (17, 13), (27, 13), (13, 16), (24, 16), (34, 16))),
)

SPAWNS = {"west road": (0, 14), "east road": (39, 14), "north road": (19, 0)}
