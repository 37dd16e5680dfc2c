"""How numbers, addresses and names sound: renders written identifiers as lower-case words without punctuation."""

import random
import re

ONES = "zero one two three four five six seven eight nine".split()
TEENS = "ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split()
TENS = "_ _ twenty thirty forty fifty sixty seventy eighty ninety".split()
_SYMBOLS = {"@": "at", ".": "dot", "_": "underscore", "-": "dash", "/": "slash", ":": "colon", "+": "plus", "#": "number",
            "&": "and", "?": "question mark", "=": "equals", "%": "percent", "~": "tilde"}  # fmt: skip


def digit(char: str, rng: random.Random) -> str:
    """One digit; zero is often "oh"."""
    return "oh" if char == "0" and rng.random() < 0.5 else ONES[int(char)]


def digits(text: str, rng: random.Random) -> str:
    """Digits one by one, with "double five" now and then."""
    out = []
    i = 0
    while i < len(text):
        if i + 1 < len(text) and text[i] == text[i + 1] and rng.random() < 0.15:
            out.append("double " + digit(text[i], rng))
            i += 2
        else:
            out.append(digit(text[i], rng))
            i += 1
    return " ".join(out)


def below_hundred(value: int) -> str:
    """0..99 in words."""
    if value < 10:
        return ONES[value]
    if value < 20:
        return TEENS[value - 10]
    return TENS[value // 10] + (f" {ONES[value % 10]}" if value % 10 else "")


def pairs(text: str, rng: random.Random) -> str:
    """Digits two by two: 1984 is "nineteen eighty four", 105 "one oh five"."""
    out = []
    if len(text) % 2:
        out.append(ONES[int(text[0])])
        text = text[1:]
    for i in range(0, len(text), 2):
        pair = text[i : i + 2]
        out.append(
            "oh " + ONES[int(pair[1])]
            if pair[0] == "0" and pair[1] != "0"
            else "hundred"
            if pair == "00"
            else below_hundred(int(pair))
        )
    return " ".join(out)


def number(text: str, rng: random.Random) -> str:
    """A group of digits as people say it."""
    if len(text) <= 2 and text[0] != "0":
        return below_hundred(int(text))
    if len(text) <= 4 and "00" not in text and text[0] != "0" and rng.random() < 0.4:
        return pairs(text, rng)
    return digits(text, rng)


def spell(text: str, rng: random.Random) -> str:
    """A code letter by letter and digit by digit, marks left out or named."""
    out = []
    for char in text.lower():
        if char.isdigit():
            out.append(digit(char, rng))
        elif char.isalpha():
            out.append(char)
        elif char == "-" and rng.random() < 0.3:
            out.append("dash")
    return " ".join(out)


def say(text: str, rng: random.Random) -> str:
    """Any text with names, digits and marks: words as they are, digits said, marks between them named."""
    out = []
    for piece in re.findall(r"[^\W\d_]+(?:'[^\W\d_]+)*|\d+|[^\w\s]|_", text.lower()):
        if piece.isdigit():
            out.append(number(piece, rng))
        elif piece[0].isalpha():
            out.append(piece)
        else:
            out.append(_SYMBOLS.get(piece, ""))
    return " ".join(" ".join(out).split())


def plain(text: str, rng: random.Random) -> str:
    """Running text: punctuation dropped, digits said."""
    text = re.sub(r"[^\w\s'%$]", " ", text.lower())
    return re.sub(r"\d+", lambda m: " " + number(m[0], rng) + " ", text).strip()
