"""Writes the large sets of identifiers, identifiers_tune.tsv.gz and identifiers_report.tsv.gz: utterances with `[TYPE:span]` marks.

Sentences come from the public templates of presidio-evaluator (MIT), which the author of the rules has not read, and
from identifier_templates.txt for the kinds that these lack (written after the rules). Values come from Faker; every
sentence is rendered in written and in spoken form. `[~:span]` marks words that count neither for nor against:
cities, organisations, titles, dates of events. Templates are dealt to the two sets by the
hash of their text: faults were looked for in the first alone, the second only reports.
"""

import hashlib
import random
import re
from collections.abc import Callable
from pathlib import Path

from faker import Faker

from proxid.classify import corpora
from scripts.models import sources, speech
from scripts.models.output import write_gzip

DRAWS = 5
LOCALES = ("en_US", "en_GB", "es_MX", "fr_FR", "de_DE", "it_IT", "en_IN", "pl_PL", "pt_BR", "nl_NL")
Value = tuple[str, str, str]
"""Kind of mark, written form, spoken form."""
_SLOT = re.compile(r"\{\{(\w+)\}\}|\{(\w)\}")


class Values:
    """Draws values of every placeholder."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        Faker.seed(seed)
        self.fakes = {locale: Faker(locale) for locale in LOCALES}
        self.us = self.fakes["en_US"]

    def local(self) -> Faker:
        """Mostly American names, the rest from other countries that use Latin letters."""
        return self.us if self.rng.random() < 0.7 else self.fakes[self.rng.choice(LOCALES)]

    def value(self, slot: str) -> Value:
        """A value for a placeholder; unknown placeholders are neutral words."""
        maker: Callable[[], Value] | None = getattr(self, f"_{slot}", None)
        return maker() if maker else self._neutral(slot)

    def said(self, kind: str, text: str, spoken: str | None = None) -> Value:
        """A value with its spoken form."""
        return kind, text, speech.say(text, self.rng) if spoken is None else spoken

    def _neutral(self, slot: str) -> Value:
        us = self.us
        text = {
            "organization": us.company, "city": us.city, "country": us.country, "nationality": lambda: "american",
            "job": us.job, "year": lambda: str(self.rng.randint(1950, 2020)), "state": us.state, "state_abbr": us.state_abbr,
            "day_of_week": us.day_of_week, "date_time": lambda: us.date(pattern="%B %d %Y"), "prefix": us.prefix,
            "prefix_male": us.prefix_male, "prefix_female": us.prefix_female, "nation_woman": lambda: "frenchwoman",
            "nation_plural": lambda: "italians", "nation_man": lambda: "frenchman",
        }.get(slot, lambda: "thing")()  # fmt: skip
        return self.said("~", str(text).replace(",", ""))

    def _person(self) -> Value:
        fake = self.local()
        return self.said("NAME", f"{fake.first_name()} {fake.last_name()}")

    _name = _name_male = _name_female = _n = _person

    def _first_name(self) -> Value:
        return self.said("NAME", self.local().first_name())

    _first_name_male = _first_name_female = _first_name_nonbinary = _first_name

    def _last_name(self) -> Value:
        return self.said("NAME", self.local().last_name())

    _last_name_male = _last_name_female = _last_name

    def _phone_number(self, kind: str = "PHONE") -> Value:
        digits = "".join(
            self.rng.choice("23456789") if i in (0, 3) else self.rng.choice("0123456789") for i in range(10)
        )
        a, b, c = digits[:3], digits[3:6], digits[6:]
        form = self.rng.choice(["({}) {}-{}", "{}-{}-{}", "{}.{}.{}", "{} {} {}", "+1 {} {} {}", "1-{}-{}-{}"])
        lead = {"+": "plus one ", "1": "one "}.get(form[0], "")
        say = speech.digits if self.rng.random() < 0.6 else speech.number
        return kind, form.format(a, b, c), lead + " ".join(say(x, self.rng) for x in (a, b, c))

    def _f(self) -> Value:
        return self._phone_number("FAX")

    def _email(self) -> Value:
        return self.said("EMAIL", self.local().email())

    def _url(self) -> Value:
        return self.said(
            "URL",
            self.rng.choice(["https://www.{}/", "www.{}", "http://{}/{}"]).format(
                self.us.domain_name(), self.us.user_name()
            ),
        )

    def _ssn(self) -> Value:
        text = self.us.ssn()
        return "SSN", text, " ".join(speech.digits(p, self.rng) for p in text.split("-"))

    def _ip_address(self) -> Value:
        text = self.us.ipv4()
        return "IP", text, " dot ".join(speech.number(p, self.rng) for p in text.split("."))

    def _credit_card_number(self) -> Value:
        text = self.us.credit_card_number()
        return "ACCOUNT", text, speech.digits(text, self.rng)

    def _iban(self) -> Value:
        text = self.us.iban()
        return "ACCOUNT", text, speech.spell(text, self.rng)

    def _b(self) -> Value:
        text = "".join(self.rng.choice("0123456789") for _ in range(self.rng.choice([4, 8, 9, 10, 12])))
        return "ACCOUNT", text, speech.digits(text, self.rng)

    def _date_of_birth(self) -> Value:
        date = self.us.date_of_birth()
        day = speech.below_hundred(date.day)
        spoken = (
            f"{date:%B} {day} {speech.pairs(str(date.year), self.rng) if date.year % 100 else 'two thousand'}".lower()
        )
        return (
            "DATE",
            self.rng.choice([f"{date:%m/%d/%Y}", f"{date:%B} {date.day}, {date.year}", f"{date:%Y-%m-%d}"]),
            spoken,
        )

    def _address(self) -> Value:
        us = self.us
        street = f"{us.building_number()} {us.street_name()}"
        tail = self.rng.choice(["", f" Apt. {self.rng.randint(1, 99)}", f" Suite {self.rng.randint(100, 999)}"])
        place = self.rng.choice(
            ["", f", {us.city()}, {us.state_abbr()} {us.postcode()}", f", {us.city()}, {us.state()}"]
        )
        return self.said("ADDRESS", street + tail + place)

    def _a(self) -> Value:
        return self.said("ADDRESS", f"{self.us.building_number()} {self.us.street_name()}")

    _street_address = _a

    def _building_number(self) -> Value:
        return self.said("ADDRESS", self.us.building_number())

    def _street_name(self) -> Value:
        return self.said("ADDRESS", self.us.street_name())

    def _secondary_address(self) -> Value:
        return self.said("ADDRESS", self.us.secondary_address())

    def _zipcode(self) -> Value:
        text = self.us.postcode()
        return "ZIP", text, speech.digits(text, self.rng)

    _postcode = _z = _zipcode

    def _age(self) -> Value:
        age = self.rng.randint(5, 99)
        return self.said("AGE" if age >= 90 else "~", str(age))

    def _g(self) -> Value:
        return self.said(
            "AGE", str(self.rng.randint(90, 104)), speech.plain(str(self.rng.randint(90, 99)), self.rng) + " years old"
        )

    def _us_driver_license(self) -> Value:
        text = self.rng.choice("ABCDFGHJKLMNPRSTVWXYZ") + "".join(
            self.rng.choice("0123456789") for _ in range(self.rng.choice([7, 8, 12]))
        )
        return "LICENSE", text, speech.spell(text, self.rng)

    _d = _us_driver_license

    def _code(self, kind: str, letters: int, digits: int) -> Value:
        text = "".join(self.rng.choice("ABCDEFGHJKLMNPRSTUVWXYZ") for _ in range(letters))
        text += "".join(self.rng.choice("0123456789") for _ in range(digits))
        return kind, text, speech.spell(text, self.rng)

    def _m(self) -> Value:
        return self._code("MRN", self.rng.choice([0, 0, 2, 3]), self.rng.choice([6, 7, 8]))

    def _h(self) -> Value:
        return self._code("PLAN", self.rng.choice([1, 3, 3]), self.rng.choice([6, 8, 9]))

    def _k(self) -> Value:
        return self._code("PLATE", 3, self.rng.choice([3, 4]))

    def _v(self) -> Value:
        text = "".join(self.rng.choice("ABCDEFGHJKLMNPRSTUVWXYZ0123456789") for _ in range(11))
        return "VEHICLE", text + "123456", speech.spell(text + "123456", self.rng)

    def _s(self) -> Value:
        return self._code("DEVICE", self.rng.choice([2, 3, 0]), self.rng.choice([8, 9, 15]))

    def _o(self) -> Value:
        return self._code("ID", self.rng.choice([0, 0, 2]), self.rng.choice([4, 6, 8]))

    def _u(self) -> Value:
        return self.said("HANDLE", self.us.user_name())


def rendered(template: str, values: Values, spoken: bool) -> str:
    """One marked utterance."""
    out, end = [], 0
    for match in _SLOT.finditer(template):
        out.append(_plain(template[end : match.start()], values, spoken))
        kind, written, said = values.value(match[1] or match[2])
        out.append(f" [{kind}:{said if spoken else written}] " if spoken else f"[{kind}:{written}]")
        end = match.end()
    out.append(_plain(template[end:], values, spoken))
    return " ".join("".join(out).split())


def _plain(text: str, values: Values, spoken: bool) -> str:
    return speech.plain(text, values.rng) + " " if spoken and text.strip() else text.replace("[", "(").replace("]", ")")


def main() -> None:
    """Write the set."""
    values = Values(20)
    public = sources.package_file("presidio_evaluator", "data_generator/raw_data/templates.txt").read_text()
    lines = [line.replace("\\n", " ") for line in public.splitlines() if "{{" in line]
    own = [
        line
        for line in (Path(__file__).parent / "identifier_templates.txt").read_text().splitlines()
        if line and line[0] != "#"
    ]
    utterances: dict[str, list[str]] = {"tune": [], "report": []}
    for source, group in (("public", lines), ("own", own)):
        for line in group:
            for draw in range(2 * DRAWS):
                text = rendered(line, values, spoken=draw >= DRAWS)
                if re.search(r"\[[A-Z]+:", text):
                    half = hashlib.md5(line.encode(), usedforsecurity=False).digest()[0] % 2
                    utterances["report" if half else "tune"].append(f"{source}\t{text}")
    for name, rows in utterances.items():
        write_gzip(f"identifiers_{name}.tsv.gz", "\n".join(rows) + "\n", corpora.CORPORA)
        print(name, len(rows), "utterances", sum(len(re.findall(r"\[[A-Z]+:", r)) for r in rows), "spans")


if __name__ == "__main__":
    main()
