"""The owners of one block, given how well each person fits each content.

Every way of giving the contents to the people, one record each, weighs the product of its cells. The probability of a
cell is the weight of all ways that use it over the weight of all ways: ratios of permanents. Up to `EXACT` people they
are computed exactly, over the subsets of people that the first contents may have gone to (Ryser's cost, no
cancellation); above, the cells are scaled until rows and columns add up (Sinkhorn 1964), the mean-field value of the
same ratios.
"""

from math import exp

from proxid.lab.logs.jit import Columns, Longs, Reals, Scalar, compiled

EXACT = 14
"""Blocks of at most so many people are computed exactly: 2^14 subsets."""
ROUNDS = 60


@compiled
def _forward(weight: Reals, slot: Longs, people: int, room: Columns) -> None:
    """Weight of all ways to give the first |s| slots to the people of each set s."""
    ahead, _, size = room
    for s in range(1 << people):
        ahead[s] = 0.0
    ahead[0] = 1.0
    for s in range((1 << people) - 1):
        if ahead[s] == 0.0:
            continue
        row = slot[size[s]] * people
        for j in range(people):
            if not (s >> j) & 1:
                ahead[s | (1 << j)] += ahead[s] * weight[row + j]


@compiled
def _backward(weight: Reals, slot: Longs, people: int, room: Columns) -> None:
    """Weight of all ways to give the other slots to the people outside each set."""
    _, behind, size = room
    behind[(1 << people) - 1] = 1.0
    for s in range((1 << people) - 2, -1, -1):
        row, total = slot[size[s]] * people, 0.0
        for j in range(people):
            if not (s >> j) & 1:
                total += weight[row + j] * behind[s | (1 << j)]
        behind[s] = total


@compiled
def permanents(weight: Reals, slot: Longs, people: int, room: Columns, post: Reals, base: int) -> None:
    """Expected records of each person in each content, into post[base:]; slot: content of each of the records."""
    ahead, behind, size = room
    _forward(weight, slot, people, room)
    _backward(weight, slot, people, room)
    whole = ahead[(1 << people) - 1]
    for s in range((1 << people) - 1):
        if ahead[s] == 0.0:
            continue
        row = slot[size[s]] * people
        for j in range(people):
            if not (s >> j) & 1:
                post[base + row + j] += ahead[s] * weight[row + j] * behind[s | (1 << j)] / whole


@compiled
def scaling(weight: Reals, count: Longs, first: int, contents: int, people: int, sides: Columns, post: Reals,
            base: int) -> None:  # fmt: skip
    """The same by scaling: people add up to one record each, contents to their counts."""
    of_person, of_content = sides
    for j in range(people):
        of_person[j] = 1.0
    for _ in range(ROUNDS):
        for i in range(contents):
            total = 0.0
            for j in range(people):
                total += weight[i * people + j] * of_person[j]
            of_content[i] = count[first + i] / total
        for j in range(people):
            total = 0.0
            for i in range(contents):
                total += weight[i * people + j] * of_content[i]
            of_person[j] = 1.0 / total
    for i in range(contents):
        for j in range(people):
            post[base + i * people + j] = of_content[i] * weight[i * people + j] * of_person[j]


@compiled
def _weights(fit: Reals, barred: Scalar, base: int, row: int, people: int, weight: Reals) -> None:
    """Weights of one content from the logarithms of its fits, its best person first at one; none for who is barred."""
    top = fit[base + row]
    for j in range(people):
        top = max(top, fit[base + row + j])
    for j in range(people):
        weight[row + j] = 0.0 if j == barred else exp(fit[base + row + j] - top)


@compiled
def expect(bounds: Columns, contents: Columns, fit: Reals, room: Columns, post: Reals) -> None:
    """Expected records of each cell of every block. bounds = (person_at, content_at, cell_at); contents = (count,
    barred); room = (weight, slot, ahead, behind, size, of_person, of_content).
    """
    person_at, content_at, cell_at = bounds
    count, barred = contents
    weight, slot, ahead, behind, size, of_person, of_content = room
    for at in range(len(post)):
        post[at] = 0.0
    for b in range(len(person_at) - 1):
        people, first = person_at[b + 1] - person_at[b], content_at[b]
        number, base = content_at[b + 1] - first, cell_at[first]
        used = 0
        for i in range(number):
            _weights(fit, barred[first + i], base, i * people, people, weight)
            for _ in range(count[first + i]):
                if used < EXACT:
                    slot[used] = i
                used += 1
        if people <= EXACT and used == people:
            permanents(weight, slot, people, (ahead, behind, size), post, base)
        else:
            scaling(weight, count, first, number, people, (of_person, of_content), post, base)
