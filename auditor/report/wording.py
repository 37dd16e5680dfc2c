"""What an audit's report says in plain words, for people who are no engineers: checks, reasons, events, terms.

The raw keys stay in JSON and stand beside the words in the page; a key without words here is shown as it is.
"""

from dataclasses import dataclass
from typing import Final

from auditor.findings import (
    COMMITS,
    COMPLETENESS,
    CONSENT,
    ERASURE,
    GATEWAY,
    GROUPS,
    HEADS,
    MAIN_SERVICE,
    OPENING,
    PARTLY,
    RECEIPTS,
    SIGNATURES,
)


@dataclass(frozen=True, slots=True)
class Check:
    """A check's short name, what it proves when it passes, and what a violation of it means."""

    title: str
    proves: str
    broken: str


CHECKS: Final = {
    HEADS: Check(
        "Unchanged history",
        "Nothing in either log was changed, removed or slipped in afterwards: each log is the one that its service "
        "signed for, and it continues every state of it that the auditor has seen before.",
        "A log is not the one that its service signed for, or not the one that it showed to others.",
    ),
    OPENING: Check(
        "Readable contents",
        "Each entry still holds what was recorded at the time. Where it cannot be read any more, the log shows the "
        "erasure, or the end of the time of keeping, that explains it.",
        "An entry does not hold what was recorded, or cannot be read and nothing explains that.",
    ),
    SIGNATURES: Check(
        "Genuine messages",
        "Every request, answer, record and consent was signed by the one it names. The gateway changed nothing on the "
        "way but the person's name. Every pseudonym belongs to one enrolled person.",
        "A message was changed or made up, or a pseudonym belongs to nobody or to the wrong person.",
    ),
    COMMITS: Check(
        "Faithful texts",
        "What was kept for publication is what the person really asked, shortened and filed by the agreed rules, which "
        "the auditor applied again.",
        "A text, category or place that was kept for publication does not follow from what the person asked.",
    ),
    GROUPS: Check(
        "Anonymity in groups",
        "Every published group held as many different people as demanded. Who is shown with whose query was decided by "
        "lot, by a secret that was fixed in advance; the auditor repeated the draw.",
        "A group was too small, or was put together, drawn or shown otherwise than agreed.",
    ),
    CONSENT: Check(
        "Consent",
        "Everybody in a delivered group had allowed that third party to receive records of that kind. After a "
        "withdrawal was confirmed, nothing under that person's name was delivered.",
        "A third party received, or was meant to receive, records of somebody who had not allowed it.",
    ),
    COMPLETENESS: Check(
        "Nothing missing",
        "Both logs tell the same story without gaps: every request that was passed on arrived, and was published, "
        "withheld for a reason, or still waits; every published group was delivered, dropped for a reason, or is still "
        "to be delivered.",
        "Something is missing from a log, occurs twice, or has no counterpart in the other log.",
    ),
    ERASURE: Check(
        "Erasure",
        "The keys to everything about erased people are gone, and each erasure was asked for by the person concerned, "
        "in a signed request.",
        "Something about an erased person can still be read, or somebody was erased without having asked for it.",
    ),
    RECEIPTS: Check(
        "Proof held outside",
        "Every receipt that devices and third parties presented has its entry in the logs.",
        "Somebody outside holds proof of something that the logs do not show.",
    ),
}
"""The checks of DESIGN 10.4 by number."""

COSIGNED: Final = "An independent witness countersigned both logs, as was demanded."
NOT_COSIGNED: Final = "No witness's countersignature was demanded."
RULES_NOT_APPLIED: Final = (
    "What was kept for publication belongs to what the person really asked. Whether the agreed rules were applied to "
    "it was not checked this time."
)

WITHHELD: Final = {
    "no_consent": "The person had allowed no third party to receive this kind of request.",
    "rejected": "It was not certain what kind of request it was.",
    "no_category": "It fitted no category.",
    "no_place": "It named no place that can be used.",
    "no_shape": "It was a command that cannot be put in general terms.",
    "unprocessable": "Identifying parts could not be removed for certain, or it was too long.",
    "classifier_failed": "The program that sorts requests failed on it.",
    "capped": "The person had as many requests waiting as one person may have.",
    "repeated": "The person had asked the same before in this period.",
    "slot_quota": "The person already had a request in the same stretch of time; one is taken.",
    "too_few": "Too few people asked from the same area, or for the same thing, in the same stretch of time.",
    "expired": "Too few people asked something alike within the longest time of waiting.",
    "epoch_end": "The period ended before enough people had asked something alike.",
    "epoch_over": "It came after the end of its period.",
    "withdrawn": "The person withdrew consent while it waited.",
    "consent_changed": "The person changed their consent while it was being handled.",
    "erased": "The person was erased.",
    "restricted": "The person had objected, or was being erased.",
    "unseasoned": "The person takes part for too short a time to count yet.",
    "tick_uniform": "What was left at the end of the period would have said what it was about.",
    "restriction": "The last check before publication stopped its group; ask the main service's operator why.",
    "place_budget": "The person had reported as many places as the limit for one period allows.",
}
"""Why a request was withheld (`withheld.KEY` in JSON)."""

ACCESS: Final = "access"
"""Key of requests to see one's own data: they are answered, and are nothing that could be published."""

DROPPED: Final = {
    "no_consent": "Somebody in the group had not allowed this third party to receive it.",
    "withdrawn": "Somebody in the group withdrew consent before the third party had received it.",
    "erased": "Somebody in the group was erased before the third party had received it.",
    "objected": "Somebody in the group had objected before the third party had received it.",
    "late": "The third party did not fetch what was asked in a period within a day.",
    "party_left": "The third party had left: the agreed rules of the period did not list it any more.",
    "invalid": "The gateway found the group invalid and refused to deliver it; ask both operators why.",
}
"""Why a group was not delivered (`dropped.KEY` in JSON)."""

KINDS: Final = {"general": "search queries", "location": "location queries", "command": "commands"}

LOGS: Final = {GATEWAY: "gateway", MAIN_SERVICE: "main service"}

EVENTS: Final = {
    "ENROLLED": "person enrolled",
    "REVOKED": "key of a person revoked by the enrolment authority",
    "LINKED": "pseudonym of the period registered for a person",
    "KEYED": "key of the substitute names for a third party in one period drawn",
    "ALIASED": "substitute name of a person for a third party recorded",
    "CONSENT": "consent chosen or confirmed",
    "FORWARDED": "request passed on to the main service under a pseudonym",
    "REFUSED": "request refused",
    "UNREACHED": "main service not reached",
    "ANSWERED": "answer passed back to the person",
    "SENT": "entries or contents on their way to a third party for the first time",
    "DELIVERED": "group delivered to a third party, which confirmed it",
    "DROPPED": "group not delivered to a third party",
    "ERASED": "person erased",
    "OBJECTED": "objection raised or taken back",
    "ACCESSED": "person shown their own data",
    "NOTICED": "third party confirmed that it was told of an erasure or objection",
    "RECEIVED": "request received from the gateway",
    "BUFFERED": "request waiting for a group",
    "RAISED": "waiting request moved to a broader category, area or time",
    "RELEASED": "group published",
    "SUPPRESSED": "request withheld",
    "TICKED": "time at which entries leave",
    "BATCHED": "contents of a period put together, without names",
    "WITHDRAWN": "waiting request removed because consent was withdrawn",
    "RESTRICTED": "main service told that somebody objects, or does so no more",
    "EPOCH_OPENED": "period begun",
    "EPOCH_CLOSED": "period ended",
    "EXPIRED": "contents deleted because their time of keeping was over",
    "DAMAGED": "entries that the service admits to be damaged",
    "SUCCEEDED": "new log begun, which names the last state of the one before",
}
"""Types of entries."""

RECEIPTS_OF: Final = {
    "epoch": "devices: keys of periods, with the main service's commitment",
    "response": "devices: answers they received",
    "consent": "devices: confirmations of consent and withdrawal",
    "rights": "devices: confirmations of access, erasure and objection",
    "acknowledgement": "third parties: groups they confirmed",
    "promise": "promises that something is in the log",
}
"""Kinds of receipts (`receipts.compared.KEY` in JSON)."""

RIGHTS: Final = {
    "access": "Access: asked to see or take along their own data",
    "consent": "Consent: choices made or changed, withdrawals included",
    "withdrawal": "Withdrawal: choices among these that took back something allowed earlier in the period",
    "erase": "Erasure: people erased",
    "status": "Status: people shown who holds their records",
    "object": "Objection: raised",
    "resume": "Objection: taken back",
}
"""Rights of the data subject (`rights.KEY` in JSON)."""

UNCHECKED: Final = {
    "parts.erased": "Pieces of content that erasures made unreadable",
    "parts.expired": "Pieces of content that were deleted, or whose keys were, because their time of keeping was over",
    "leaves.damaged": "Entries that a service can no longer show, because its files are damaged",
    "leaves.admitted": "Entries that a service admits to be damaged",
    "leaves.may_explain": "Findings that a damaged entry may explain",
    "events.unreadable": "Entries of which only what names nobody (number, type, and the like) could be checked",
    "events.unproven_erasures": "Erasures whose signed request has expired: only their entries name it",
    "consents.unknown": "Requests that waited under a consent whose entry at the main service has expired",
    "groups.partly_erased": "Published groups checked only for size and for nobody being in them twice",
    PARTLY: "Portions of entries, and contents of a period, checked only as far as erasures let them be read",
    "groups.hidden_owners": "Published requests whose owner cannot be read any more",
    "pipeline.unknown": "Requests handled by a version of the rules that the auditor does not have",
    "epochs.believed": "Periods that the main service ended by its own clock, while the gateway was silent",
    "receipts.unproven": "Presented receipts that these services and third parties did not sign: they prove nothing",
    "receipts.recent": "Presented receipts so new that their entry may follow: to be presented again at the next audit",
    "promises.late": "Promises of entries that the log may be about to have: late, which by itself is no violation",
}
"""What is counted because it could not be checked (key in JSON)."""

TOTALS: Final = {
    "requests": "requests passed on to the main service",
    "received": "requests received by the main service",
    "unanswered": "requests passed on that were not answered",
    "released": "requests published in groups",
    "waiting": "requests waiting for a group",
    "groups": "groups published",
    "groups.pending": "groups formed and not yet published",
    "deliveries": "deliveries of a group to a third party",
    "dropped": "groups not delivered to a third party",
    "pending": "deliveries still to be made or confirmed",
    "pending.epochs": "periods that have begun since the period of the oldest of these",
    "unacknowledged": "of these, sent, and not confirmed by the third party",
    "unacknowledged.epochs": "periods that have begun since the period of the oldest of those",
    "consents.unreadable": "choices of consent that cannot be read any more",
}
"""Totals (key in JSON)."""

BELIEVED: Final = {
    "turned_away": "That a service refused a request, and why, or could not be reached: of a refused request nothing "
    "is kept",
    "texts": "That a request was withheld for what it said: it was not certain, fitted nothing, or was too hard",
    "type": "Of which kind a withheld request was, where the person's choice allows some kinds and not others",
    "places": "That a person had reported as many places as one period allows, where fewer waited in the end",
    "epoch_alone": "That the main service ended a period by its own clock, while the gateway was silent",
    "order": "In which order requests were taken up that came close to each other",
    "times": "When, to the second, the main service did what it did, by its own clock: what others said, and what is "
    "computed again, leave up to an hour open (entries with such a time)",
    "keys": "That the authority, whose word comes by hand, revoked no key but those that the gateway's log names",
    "lost": "From when on nothing more was kept of somebody whose key of a period was lost and replaced",
    "answers": "What was answered, also to who asked what is held of them: answers are sealed, and only who asked can "
    "compare",
    "seals": "That nothing is hidden in the random numbers under which a third party's key of a period is sealed to it "
    "(records of periods from before there were such keys: each by itself)",
    "aliases": "How a substitute name was made in a period from before each third party and period had a key for them",
    "possibly_held": "Whether a third party holds what came for it and it never confirmed: what it was sent, and what "
    "waits, was taken back, or was dropped, and is not said to have been sent",
    "notices": "That a third party which has not confirmed a notice of an erasure or objection was sent it, or has not "
    "been there since",
    "notice_names": "Whose name a notice of an erasure or objection says, and that its third party had got something "
    "of theirs: it reads the notice, and whoever asked can look at what it was told",
}
"""What services were taken at their word for (`believed.KEY` in JSON; docs/adr/0023)."""

BASES: Final = {
    "recomputed": "Computed again",
    "countersigned": "Signed by two who do not trust each other",
    "believed": "Believed",
    "unreadable": "Not readable any more",
}
"""On what a comparison rests (`checks.N.KEY` in JSON)."""

NO_WITNESS: Final = (
    "No witness's countersignature (cosignature) was demanded: each service could show this auditor another history "
    "than it shows others."
)
NO_KEY_OF_WITNESS: Final = (
    "a witness is demanded, and no key of one is trusted: import its public.toml, or set require_witness = false"
)
NO_PIPELINE: Final = (
    "What people asked was not sorted again by the agreed rules (pipeline): check 4 compared only that what was kept "
    "belongs to what was asked."
)
NO_RECEIPTS: Final = (
    "No receipts of devices or parties were presented: what both services keep silent about could not be seen."
)
"""What an audit did not ask for, and so says nothing about."""

UNSEEN: Final = (
    "What both services and the third party concerned keep silent about. Only receipts that people hold can show it.",
    "Whether a service has secretly kept a copy of a key or text that it says it has deleted.",
    "Whether times are true: they are those of the devices and services, except where somebody outside confirmed them.",
    "For requests that were withheld at once, what they said: the services keep nothing of it.",
)
"""What no audit of logs can see (docs/evidence.md)."""

GLOSSARY: Final = {
    "Choice of consent (bundle)": "one of the offered combinations of third parties and kinds of requests",
    "Content of an entry (payload)": "its personal part: encrypted for each person, and unreadable after erasure",
    "Countersignature (cosignature)": "a witness's signature, with a time, under the state of a log",
    "Drawn by lot (cycle, seed)": "within a group each person is shown with another's query; the order follows from a "
    "secret number whose fingerprint was recorded before",
    "Entry (leaf)": "one line of a log, with a number that says where it stands",
    "Gateway (Identity Screener)": "knows who asks, and not what; replaces names by pseudonyms",
    "Group": "the requests of different people that are published together, so that nobody can tell whose is whose",
    "k": "how many other people must be possible as the author of each published text",
    "Level": "how many steps of the tree of categories are told apart when groups form",
    "Log (Merkle log)": "a list to which a service can only append: changing an earlier entry changes the root hash",
    "Main service": "knows what was asked, and not who asked; answers, and forms the groups",
    "Margin (Sybil margin)": "how many members of a group may work together without lowering k",
    "Period (epoch)": "the time, usually a day, after which everybody gets a new pseudonym",
    "Pseudonym (PROX_ID)": "the name under which the main service knows a person for one period",
    "Record": "what is published of one request",
    "Root hash (checkpoint)": "a fingerprint of a whole log: two logs with the same one are the same",
    "Rules for texts (pipeline)": "the program that sorts requests and removes identifying parts, in a certain version",
    "Substitute name (alias)": "a name that one third party sees in the place of a person's, for a limited time",
    "Witness": "somebody independent of both services who signs each new state of a log, and never two that disagree",
}  # fmt: skip
"""Terms of the report."""
