"""Writes the small tables: intents.tsv (intent -> domain and merged name), offensive.tsv, languages.npz, iab.tsv.gz."""

import json
import re

import numpy as np

from proxid.classify import corpora
from proxid.classify.weights import text_array, to_bytes
from scripts.models import sources
from scripts.models.output import SHIPPED, write_gzip

MERGED = {
    "alarm": "alarm_set", "calendar": "calendar_query", "calendar_update": "calendar_set", "meeting_schedule": "calendar_query",
    "schedule_meeting": "calendar_set", "reminder": "calendar_query", "reminder_update": "calendar_set",
    "shopping_list": "lists_query", "shopping_list_update": "lists_createoradd", "todo_list": "lists_query",
    "todo_list_update": "lists_createoradd", "play_music": "play_music", "next_song": "music_settings",
    "update_playlist": "music_settings", "what_song": "music_query", "change_volume": "audio_volume_other",
    "smart_home": "iot_other", "uber": "transport_taxi", "book_flight": "transport_ticket", "order": "takeaway_order",
    "greeting": "general_greet", "repeat": "general_repeat", "yes": "general_affirm", "no": "general_negate",
    "maybe": "general_dontcare", "cancel": "general_commandstop", "weather": "weather_query", "traffic": "transport_traffic",
    "restaurant_suggestion": "recommendation_locations", "travel_suggestion": "recommendation_locations",
    "directions": "transport_query",
}  # fmt: skip
"""CLINC intents that mean the same as one of the home corpora's."""
LANGUAGES = ("en es fr de it pt nl sv da no fi pl cs sk sl hr hu ro tr id vi et lv lt sq ca af so sw tl cy").split()
_OFFENSIVE = re.compile(r"offensive|disparag|derogat|obscen|vulgar|ethnic slur|slang for (?:sexual|a woman|penis|vagina)|"
                        r"sexual intercourse|prostitut|fornicat|masturbat|genital|pornograph")  # fmt: skip


def intents() -> str:
    """Lines `family:intent, domain, merged intent`; every intent of the three corpora."""
    domains = {row["intent"]: row["domain"] for row in corpora.table("clinc.tsv.gz")}
    lines = []
    for family, intent in sorted(corpora.types()):
        name = MERGED.get(intent, intent) if family == "clinc" else intent
        home = family == "home" or name != intent or intent in MERGED
        domain, leaf = name.split("_", 1) if home else (domains.get(intent, "other"), name)
        lines.append(f"{family}:{intent}\t{domain}\t{leaf}")
    return "\n".join(lines) + "\n"


def offensive() -> str:
    """Names (`taco.n.02`) of WordNet senses whose definition says that they offend, or is sexual."""
    bad = {
        line[:8]
        for line in sources.wordnet_file("data.noun").read_text().splitlines()
        if not line.startswith(" ") and _OFFENSIVE.search(line.partition("| ")[2])
    }
    names = set()
    for line in sources.wordnet_file("index.noun").read_text().splitlines():
        if not line.startswith(" "):
            fields = line.split()
            offsets = fields[-int(fields[2]) :]
            names |= {f"{fields[0]}.n.{number:02d}" for number, offset in enumerate(offsets, 1) if offset in bad}
    return "\n".join(sorted(names)) + "\n"


def languages() -> None:
    """Log probabilities of letter sequences in languages written with Latin letters."""
    grams: dict[str, np.ndarray] = {}
    for column, language in enumerate(LANGUAGES):
        profile = json.loads(sources.package_file("langdetect", f"profiles/{language}").read_text())
        totals = profile["n_words"]
        for gram, count in profile["freq"].items():
            key = gram.lower()
            if key.isascii() and count > 20:
                grams.setdefault(key, np.zeros(len(LANGUAGES)))[column] += count / totals[len(gram) - 1]
    keys = sorted(grams)
    table = np.log(np.array([grams[key] for key in keys]) + 1e-6)
    arrays = {"grams": text_array(keys), "logs": np.round(table * 8).astype(np.int8), "names": text_array(LANGUAGES)}
    (SHIPPED / "languages.npz").write_bytes(to_bytes(arrays))


def main() -> None:
    """Write them."""
    (SHIPPED / "intents.tsv").write_text(intents())
    (SHIPPED / "offensive.tsv").write_text(offensive())
    languages()
    write_gzip("iab.tsv.gz", (corpora.CORPORA / "iab_content.tsv").read_text())


if __name__ == "__main__":
    main()
