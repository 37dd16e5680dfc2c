"""Writes public_figures.tsv: full names of people who have an entry of their own in WordNet 3.1 (policy `keep`)."""

import re

from scripts.models import sources
from scripts.models.output import SHIPPED

PERSON = "00007846"
"""Offset of person.n.01 in data.noun."""


def people() -> list[str]:
    """Lower-case names of WordNet's instances below person.n.01, of two words or more."""
    parents: dict[str, list[str]] = {}
    instances: dict[str, list[str]] = {}
    labels: dict[str, list[str]] = {}
    for line in sources.wordnet_file("data.noun").read_text().splitlines():
        if line.startswith(" "):
            continue
        fields = line.split(" ")
        offset, count = fields[0], int(fields[3], 16)
        labels[offset] = [fields[4 + 2 * i] for i in range(count)]
        pointers = fields[5 + 2 * count :]
        for i in range(int(fields[4 + 2 * count])):
            symbol, target = pointers[4 * i], pointers[4 * i + 1]
            if symbol in ("@", "@i"):
                (parents if symbol == "@" else instances).setdefault(offset, []).append(target)
    below: dict[str, bool] = {PERSON: True}

    def person(offset: str) -> bool:
        if offset not in below:
            below[offset] = False
            below[offset] = any(person(parent) for parent in parents.get(offset, []))
        return below[offset]

    named = {label for offset, kinds in instances.items() if any(map(person, kinds)) for label in labels[offset]}
    plain = {label.replace("_", " ").lower() for label in named}
    return sorted(name for name in plain if re.fullmatch(r"[a-z.'-]+(?: [a-z.'-]+)+", name))


def main() -> None:
    """Write the list."""
    (SHIPPED / "public_figures.tsv").write_text("\n".join(people()) + "\n")


if __name__ == "__main__":
    main()
