"""JSON in brackets in brackets is refused at once; brackets within texts are none, however the stream is cut."""

import io
import json

import ijson
import pytest

from proxid.lab.imports.google import _DEEPEST, _Shallow

TEXTS = ['[[{{"', "\\", '\\"[', "\\\\[{", "]}]}", "", '"' * 9, "\\" * 9 + "["]
RECORDS = [{text: [text, {"a": [text]}] for text in TEXTS}] * 40


class Pieces(io.BytesIO):
    """A stream of so many bytes at a time."""

    def __init__(self, data: bytes, size: int) -> None:
        super().__init__(data)
        self._most = size

    def read(self, size: int | None = -1) -> bytes:
        return super().read(self._most if size else 0)


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1 << 16])
def test_texts_full_of_brackets_are_texts(size: int) -> None:
    mark = b"\xef\xbb\xbf" if size > 2 else b""  # a file gives as many bytes as are asked for
    data = mark + json.dumps(RECORDS, indent=1).encode()
    assert list(ijson.items(_Shallow(Pieces(data, size)), "item")) == RECORDS


@pytest.mark.parametrize("opening", [b"[", b'{"a":', b'{"\\"]":'])
@pytest.mark.parametrize("size", [1, 7, 1 << 16])
def test_what_is_nested_deeply_is_refused_before_it_is_read(opening: bytes, size: int) -> None:
    for depth, good in ((_DEEPEST - 1, True), (_DEEPEST + 1, False), (1_000_000, False)):
        stream = _Shallow(Pieces(opening * depth, size))
        try:
            while stream.read():
                pass
            assert good
        except ijson.JSONError:
            assert not good


def test_what_is_closed_again_may_go_on_for_long() -> None:
    stream = _Shallow(Pieces(b"[" + b'{"a": [[[["]"]]]]},' * 100_000, 1 << 16))
    while stream.read():
        pass
