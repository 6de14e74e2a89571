"""Plays a game with a checkout of the Python library (CoolCat467/Neuro-API) against a running daemon.

    python3 neuro.py NEURO_API LIBCOMPONENT ws://127.0.0.1:3000/neuro/player

It needs trio and trio-websocket, and typing_extensions or a Python that has what the library takes
from it. Where there is no orjson, the standard library stands in for it.
"""

import json
import sys
import types
import typing

if len(sys.argv) != 4:
    sys.exit("usage: python3 neuro.py NEURO_API LIBCOMPONENT ws://127.0.0.1:3000/neuro/COMPANION")
for checkout in sys.argv[1:3]:
    sys.path.insert(0, checkout + "/src")


def stand_in(name, **what):
    module = types.ModuleType(name)
    vars(module).update(what)
    sys.modules[name] = module


try:
    import orjson  # noqa: F401
except ImportError:
    stand_in(
        "orjson",
        loads=json.loads,
        dumps=lambda v, *_: json.dumps(v, separators=(",", ":"), ensure_ascii=False).encode(),
        JSONDecodeError=json.JSONDecodeError,
        JSONEncodeError=TypeError,
    )
try:
    import typing_extensions  # noqa: F401
except ImportError:
    stand_in("typing_extensions", NotRequired=typing.NotRequired, is_typeddict=typing.is_typeddict)

import trio  # noqa: E402
import trio_websocket  # noqa: E402
from neuro_api.command import Action  # noqa: E402
from neuro_api.trio_ws import TrioNeuroAPI  # noqa: E402

GAME = "Number Guess"


def say(**event):
    print(json.dumps(event), flush=True)


class Table(TrioNeuroAPI):
    """A game that takes the second guess."""

    def __init__(self, connection):
        super().__init__(GAME, connection)
        self.seen = []
        self.unknown = []

    async def handle_action(self, action):
        data = json.loads(action.data) if action.data is not None else None
        self.seen.append([action.name, data])
        ok = action.name == "pass" or len(self.seen) > 1
        await self.send_action_result(action.id_, ok, None if ok else "too low")

    async def handle_unknown_command(self, command, data):
        self.unknown.append(command)


async def read(api, until, seconds=20):
    with trio.fail_after(seconds):
        while not until():
            await api.read_message()


async def silent(api, seconds):
    with trio.move_on_after(seconds):
        while True:
            await api.read_message()


async def first(url):
    async with trio_websocket.open_websocket_url(url) as connection:
        api = Table(connection)
        await api.send_startup_command()
        guess = {"type": "object", "properties": {"number": {"type": "integer", "minimum": 3, "maximum": 9}}, "required": ["number"]}
        await api.register_actions([Action("guess", "Guess a number", guess), Action("pass", "Do nothing")])
        await api.send_context("You play a game of numbers.")
        await api.send_force_action("nothing guessed", "Guess.", ["guess"], ephemeral_context=False)
        await read(api, lambda: len(api.seen) == 2)
        assert api.seen == [["guess", {"number": 3}]] * 2, api.seen
        await api.send_force_action("guessed", "Pass.", ["pass"])
        await read(api, lambda: len(api.seen) == 3)
        assert api.seen[2] == ["pass", None], api.seen
        await api.unregister_actions(["guess"])
        await silent(api, 1.5)
        assert len(api.seen) == 3, api.seen
        say(first=api.seen, unknown=api.unknown)
        return api


async def second(url, api):
    """Comes back as the library does: what is registered is sent when the server asks for it."""
    async with trio_websocket.open_websocket_url(url) as connection:
        api.connect(connection)
        await silent(api, 3)
        await api.send_force_action("again", "Pass.", ["pass"])
        await read(api, lambda: len(api.seen) == 4)
        assert api.seen[3] == ["pass", None], api.seen
        say(back=api.seen[3], unknown=api.unknown)
        await silent(api, 0.5)


async def main():
    url = sys.argv[3]
    await second(url, await first(url))


trio.run(main)
