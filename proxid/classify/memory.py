"""What was made of a word, remembered; only for words of the shipped lists.

A request's other words may be personal (a rare name, a number, a password), and whole requests are: they are worked out
anew each time, so that nothing of them stays in a process.
"""

from collections.abc import Callable, Container
from typing import TypeVar

Value = TypeVar("Value")
MOST = 32_768
"""Words of one memory; it is emptied when it is full."""


class WordMemory(dict[str, Value]):
    """`memory[word]` is `make(word)`, which must not depend on anything else.

    Args:
        public: words that may be remembered: those of a list that ships with the package.
    """

    def __init__(self, make: Callable[[str], Value], public: Container[str], most: int = MOST) -> None:
        super().__init__()
        self._make, self._public, self._most = make, public, most

    def __missing__(self, word: str) -> Value:
        value = self._make(word)
        if word in self._public:
            if len(self) >= self._most:
                self.clear()
            self[word] = value
        return value
