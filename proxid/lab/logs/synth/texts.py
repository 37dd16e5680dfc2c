"""Texts and URLs of a synthetic log: each is a pure function of a 64-bit number and a category.

A text is a few words: the names of its category and of the one above, nouns of the subtree's vocabulary, everyday words
before and after, a place. So texts that one person alone issues share words and phrases with others' texts.
"""

import numpy as np

from proxid.lab.logs.jit import Bytes, Codes, Columns, Hashes, Longs, Scalar, compiled, step
from proxid.lab.logs.synth.words import AFTER_LIST, BEFORE_LIST, ENDING_LIST, FIRST_LIST, LAST_LIST, NOUN, PLACE_LIST

SHARED, FRESH, PERSONAL, NAVIGATION, VANITY = range(5)
LONGEST = 160
"""Bytes that no text or URL reaches."""
_VOCABULARY = 120


@step
def mixed(number: Scalar) -> Scalar:
    """A well-mixed 64-bit number (the finaliser of SplitMix64)."""
    state = np.uint64(number) + np.uint64(0x9E3779B97F4A7C15)
    state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return state ^ (state >> np.uint64(31))


@step
def mixed_pair(a: Scalar, b: Scalar) -> Scalar:
    """One number of two."""
    return mixed(mixed(a) ^ np.uint64(b))


@step
def _put(out: Bytes, at: Scalar, first: Scalar, words: Columns, word: Scalar) -> Scalar:
    """Append a word by its position, with a space before it unless the text begins."""
    arena, bounds, codes, _ = words
    if at > first:
        out[at] = 32
        at += 1
    code = codes[word]
    for i in range(bounds[code], bounds[code + 1]):
        out[at] = arena[i]
        at += 1
    return at


@step
def _from_list(words: Columns, which: Scalar, number: Scalar) -> Scalar:
    """A word of a list, all alike."""
    starts = words[3]
    return starts[which] + np.int64(number % np.uint64(starts[which + 1] - starts[which]))


@step
def _noun(words: Columns, number: Scalar) -> Scalar:
    """A noun; frequent ones more often."""
    part = np.float64(number >> np.uint64(11)) / 9007199254740992.0
    return words[3][NOUN] + np.int64(part**2 * (words[3][NOUN + 1] - words[3][NOUN]))


@step
def _topical(words: Columns, forest: Columns, node: Scalar, number: Scalar) -> Scalar:
    """A noun of a category: its name, the name above, or one of its subtree's vocabulary."""
    parent, name, top = forest[0], forest[6], forest[5]
    choice = number % np.uint64(10)
    if choice < 4 and name[node] >= 0:
        return name[node]
    if choice < 6 and name[parent[node]] >= 0:
        return name[parent[node]]
    which = (number >> np.uint64(8)) % np.uint64(_VOCABULARY)
    return _noun(words, mixed_pair(top[node] + 7_000_000, which))


@step
def _query(out: Bytes, at: Scalar, lists: Columns, node: Scalar, state: Scalar, most: Scalar) -> Scalar:
    """Up to `most` topical nouns, perhaps with everyday words around; lists = (words, forest)."""
    words, forest = lists
    first = at
    extra = state % np.uint64(100)
    if extra < 16:
        at = _put(out, at, first, words, _from_list(words, BEFORE_LIST, mixed(state + np.uint64(1))))
    count, last = 1 + (state >> np.uint64(20)) % np.uint64(most), -1
    for i in range(np.int64(count)):
        word = _topical(words, forest, node, mixed(state + np.uint64(16 + i)))
        if word != last:
            at = _put(out, at, first, words, word)
        last = word
    if 16 <= extra < 34:
        at = _put(out, at, first, words, _from_list(words, AFTER_LIST, mixed(state + np.uint64(2))))
    if 34 <= extra < 44:
        at = _put(out, at, first, words, _from_list(words, PLACE_LIST, mixed(state + np.uint64(3))))
    return at


@step
def _site(out: Bytes, at: Scalar, words: Columns, state: Scalar) -> Scalar:
    """A made-up site: one noun or two and an ending, without spaces."""
    at = _put(out, at, at, words, _noun(words, mixed(state)))
    if state % np.uint64(3) > 0:
        at = _put(out, at, at, words, _noun(words, mixed(state + np.uint64(1))))
    return _put(out, at, at, words, _from_list(words, ENDING_LIST, mixed(state + np.uint64(2))))


@step
def _navigation(out: Bytes, at: Scalar, words: Columns, state: Scalar) -> Scalar:
    """What people type to reach a site: with www, without, or its name alone."""
    form, first = state % np.uint64(4), at
    if form == 0:
        for byte in (119, 119, 119, 46):
            out[at] = byte
            at += 1
    at = _site(out, at, words, mixed(state))
    if form >= 2:  # without the ending
        while out[at - 1] != 46:
            at -= 1
        at -= 1
    return max(at, first + 1)


@step
def _vanity(out: Bytes, at: Scalar, words: Columns, person: Scalar, variant: Scalar) -> Scalar:
    """The person's own name, alone or with a place or a word."""
    first = at
    at = _put(out, at, first, words, _from_list(words, FIRST_LIST, mixed(person)))
    at = _put(out, at, first, words, _noun(words, mixed(person + np.uint64(1))))
    at = _put(out, at, first, words, _from_list(words, LAST_LIST, mixed(person + np.uint64(2))))
    if variant == 1:
        at = _put(out, at, first, words, _from_list(words, PLACE_LIST, mixed(person + np.uint64(3))))
    if variant == 2:
        at = _put(out, at, first, words, _from_list(words, AFTER_LIST, mixed(person + np.uint64(4))))
    return at


@compiled
def write_texts(
    kinds: Codes, ids: Hashes, nodes: Codes, words: Columns, forest: Columns, out: Bytes, bounds: Longs
) -> None:
    """Write the text of every record; text i is out[bounds[i]:bounds[i + 1]]."""
    at = 0
    for i in range(len(kinds)):
        bounds[i], state = at, ids[i]
        if kinds[i] == VANITY:
            at = _vanity(out, at, words, state >> np.uint64(2), np.int64(state & np.uint64(3)))
        elif kinds[i] == NAVIGATION:
            at = _navigation(out, at, words, mixed(state))
        elif kinds[i] == SHARED:
            at = _query(out, at, (words, forest), nodes[i], mixed(state), np.uint64(3))
        else:
            at = _query(out, at, (words, forest), nodes[i], mixed(state), np.uint64(5))
            at = _put(out, at, bounds[i], words, _noun(words, mixed(state + np.uint64(9))))
    bounds[len(kinds)] = at


@compiled
def write_urls(ids: Hashes, words: Columns, out: Bytes, bounds: Longs) -> None:
    """Write `http://www.SITE` for every number."""
    at = 0
    for i in range(len(ids)):
        bounds[i] = at
        for byte in (104, 116, 116, 112, 58, 47, 47, 119, 119, 119, 46):
            out[at] = byte
            at += 1
        at = _site(out, at, words, mixed(ids[i]))
    bounds[len(ids)] = at
