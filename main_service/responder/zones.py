"""Which time zone a named place has, from the tz database and the names of places that the package ships.

A name is known as the city of a zone (Asia/Tokyo), as a country or US state, or as a city in one. A region with
several zones has a time only while all of them agree; so a wrong time is never given, and some right ones are not.
"""

import unicodedata
from datetime import datetime
from functools import cache
from importlib.resources import files
from typing import Final
from zoneinfo import ZoneInfo, available_timezones

from proxid.classify import places

_AREAS: Final = frozenset(
    {"Africa", "America", "Antarctica", "Asia", "Atlantic", "Australia", "Europe", "Indian", "Pacific"}
)
_EAST, _MIDDLE, _MOUNTAIN, _WEST = "America/New_York", "America/Chicago", "America/Denver", "America/Los_Angeles"
_STATES: Final = {
    _EAST: "connecticut,delaware,district of columbia,maine,maryland,massachusetts,new hampshire,new jersey,"
    "new york state,north carolina,ohio,pennsylvania,rhode island,south carolina,vermont,virginia,west virginia",
    _MIDDLE: "alabama,arkansas,illinois,iowa,louisiana,minnesota,mississippi,missouri,oklahoma,wisconsin",
    _MOUNTAIN: "colorado,montana,new mexico,utah,wyoming",
    _WEST: "california,nevada,washington state",
    "America/Phoenix": "arizona",
    "Pacific/Honolulu": "hawaii",
    "America/Anchorage": "alaska",
}
_SPLIT_STATES: Final = {
    (_EAST, _MIDDLE): "florida,indiana,kentucky,michigan,tennessee",
    (_MIDDLE, _MOUNTAIN): "kansas,nebraska,north dakota,south dakota,texas",
    (_MOUNTAIN, _WEST): "idaho,oregon",
}
"""States with two zones; the cities in them that are known all the same are in _CITIES."""
_CITIES: Final = {
    "Europe/London": "england,scotland,wales,britain,great britain,uk",
    "Europe/Amsterdam": "holland",
    "Europe/Belgrade": "kosovo",
    "Asia/Dubai": "uae",
    "Europe/Madrid": "barcelona,valencia,seville,malaga,bilbao,zaragoza",
    "Europe/Lisbon": "porto,braga,coimbra",
    "Europe/Moscow": "saint petersburg,st petersburg,sochi",
    "Asia/Shanghai": "beijing,shenzhen,guangzhou,tianjin,wuhan,chengdu,hangzhou,nanjing,xian,chongqing",
    "Australia/Sydney": "canberra,new south wales",
    "Australia/Brisbane": "gold coast,cairns,queensland",
    _EAST: "miami,orlando,tampa,jacksonville,atlanta,indianapolis,cincinnati,nyc,new york city,washington dc",
    _MIDDLE: "houston,dallas,austin,san antonio,fort worth,nashville,memphis,omaha,wichita,kansas city",
    _MOUNTAIN: "el paso",
    _WEST: "portland,eugene,salem",
    "America/Sao_Paulo": "rio de janeiro,brasilia,belo horizonte,curitiba,porto alegre",
    "America/Toronto": "ottawa,quebec,ontario",
    "America/Edmonton": "calgary",
    "America/Mexico_City": "guadalajara,puebla",
    "Asia/Jakarta": "bandung,surabaya",
    "UTC": "utc,gmt,greenwich mean time,coordinated universal time",
}
_COUNTRIES: Final = {
    "GB": "united kingdom", "KR": "south korea", "KP": "north korea", "CD": "democratic republic of the congo",
    "CG": "republic of the congo", "MM": "myanmar", "WS": "samoa", "CZ": "czechia", "CI": "ivory coast",
    "MO": "macao", "CV": "cabo verde", "SZ": "eswatini", "TL": "timor leste", "PS": "palestinian territory",
    "VA": "vatican", "LC": "saint lucia", "KN": "saint kitts and nevis", "VC": "saint vincent and the grenadines",
}  # fmt: skip
"""Countries that the tz database calls otherwise than the names of places do."""
_AMBIGUOUS: Final = frozenset({"georgia"})
"""A country and a state alike."""


def time_in(name: str, moment: datetime) -> datetime | None:
    """A moment on the clocks of a named place; None where the place or its zone is not known."""
    words = _plain(name).split()
    zones = _zones_of(" ".join(words))
    for cut in range(len(words) - 1, 0, -1):
        zones = zones or _within(" ".join(words[:cut]), " ".join(words[cut:]))
    there = {moment.astimezone(ZoneInfo(zone)).replace(tzinfo=None) for zone in zones}
    return there.pop() if len(there) == 1 else None


def is_place(name: str) -> bool:
    """Whether a text names a place that is known at all, with a zone or without."""
    plain = _plain(name)
    return bool(_zones_of(plain)) or plain in places.load()


def _plain(name: str) -> str:
    """Lower case without accents, commas, full stops and a leading article."""
    bare = "".join(c for c in unicodedata.normalize("NFKD", name.lower()) if not unicodedata.combining(c))
    words = bare.replace(",", " ").replace(".", "").replace("-", " ").split()
    return " ".join(words[words[:1] == ["the"] :])


def _within(city: str, region: str) -> frozenset[str]:
    """Zones of `city region`, as in "paris france": the city's if it lies there, else the region's."""
    held, found = places.load().get(city), _zones_of(region)
    if not found:
        return frozenset()
    state = {region, f"{region} state"}
    return (held is not None and held.region in state and _zones_of(city)) or found


def _zones_of(name: str) -> frozenset[str]:
    if name in _AMBIGUOUS:
        return frozenset()
    if found := _named().get(name):
        return found
    place = places.load().get(name)
    if place is None or place.kind == "continent":
        return frozenset()
    return _named().get(place.region, frozenset()) if place.kind == "city" else frozenset()


@cache
def _named() -> dict[str, frozenset[str]]:
    """Zones by name: regions first, then cities of zones, then what is said here."""
    result: dict[str, set[str]] = {}
    names = {code: name for code, name, *_ in _table("iso3166.tab")} | _COUNTRIES
    for code, _, zone, *_ in _table("zone.tab"):
        result.setdefault(_plain(names[code].replace("&", "and").replace("(", "").replace(")", "")), set()).add(zone)
    for zone in available_timezones():
        area, _, city = zone.partition("/")
        if area in _AREAS and "/" not in city:
            result[_plain(city.replace("_", " "))] = {zone}
    for zones, listed in [*_SPLIT_STATES.items(), *(((zone,), names) for zone, names in _STATES.items())]:
        result |= {state: set(zones) for state in listed.split(",")}
    for zone, listed in _CITIES.items():
        result |= {city: {zone} for city in listed.split(",")}
    return {name: frozenset(zones) for name, zones in result.items()}


def _table(name: str) -> list[list[str]]:
    """Rows of one of the tz database's tables."""
    text = (files("tzdata.zoneinfo") / name).read_text(encoding="utf-8")
    return [line.split("\t") for line in text.splitlines() if line and not line.startswith("#")]
