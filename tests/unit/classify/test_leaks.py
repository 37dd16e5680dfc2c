"""Kinds of identifiers that once got through, each as a whole: what must be gone, and what must stay.

A marked word ("[sara]") must not be left in the masked text; everything else is what the sentence is about.
"""

import re

import pytest

from proxid.classify import load_default

_MARK = re.compile(r"\[([^\]]+)\]")

SPELLED_MAIL = (
    "email [a n n a at example dot com]",
    "my email is [s a r a at gmail dot com]",
    "send it to [l u c i at outlook dot com] please",
    "write to [j o s h i underscore m i a at web dot de]",
    "cc [m a r i a dot r o s s i at posta dot it]",
    "EMAIL [I D A AT EXAMPLE DOT ORG]",
    "forward this to [n i n a four two at yahoo dot com]",
    "is [e v a at icloud dot com] still right",
    "my email is [anna lindqvist at web dot de]",
    "my email is [anna at sign gmail dot com]",
    "the address is [p i a dash l i at posteo dot net]",
)
HESITANT = (
    "who owns the number [five five five uh oh one two three]",
    "call my mom at [five five five um oh one two three]",
    "my social is [one two three er four five uhm six seven eight nine]",
    "the card is [four one one one, um, one one one one uh one one one one one one one one]",
    "dial [six one seven let me see five five five oh one double four]",
    "my number is [oh seven seven no wait oh seven eight nine hundred one two three]",
    "my pin is [four er seven uh one two]",
    "it is [five five five hmm zero one two three]",
    "my name is spelled [s m um i t h]",
    "zip code [nine oh uh two one oh]",
    "i live at [twelve uh forty one oak avenue]",
    "my phone number is [617 um 555 uh 0123]",
    "my birthday is [march um third nineteen er eighty four]",
    "call me on [five five five you know nine eight seven six]",
    "member id [a b uh one two three four five]",
    "my number is [five five five i mean five five six one two one two]",
)
SECRETS = (
    "send it to [1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa]",
    "my bitcoin address is [1BoatSLRHtKNngkdXEeobR76b53LETtpyT]",
    "pay [3J98t1WpEZ73CNmQviecrnyiWrnqRhWNLy] today",
    "send money to [bc1qw508d6qejxtdy4y5r3zarvary0c5xw7kv8f3t4]",
    "my wallet is [0x52908400098527886E0F7030069857D2E4169EE7]",
    "the key is [52908400098527886e0f7030069857d2e4169ee7]",
    "wire it to [LTdsVS8VDw6syvfQADdhf2PHAm3rMGJvPX]",
    "my password is [hunter2]",
    "my wifi password is [sunflower]",
    "the password is [purple elephant]",
    "the password is [purple elephant seven]",
    "the wi-fi password at home is [correct horse battery staple]",
    "password: [swordfish]",
    "set my netflix password to [banana split nine]",
    "change the password to [Tr0ub4dor&3]",
    "my passphrase is [open sesame]",
    "our safe word is [pineapple]",
    "the code word is [blue heron]",
    "my seed phrase is [abandon ability able about above absent absorb abstract absurd abuse access accident]",
    "the recovery phrase is [witch collapse practice feed shame open despair creek road again ice least]",
    "the code for the gate is [seven seven one two]",
    "the gate code is [four four one nine]",
    "[seven seven one two] opens the gate",
    "the door code is pound [one two three four]",
    "alarm code [9 0 2 1]",
    "the garage code is [thirty four twelve]",
    "to open the door you type [4471]",
    "the keypad wants [five five two one]",
    "the alarm is disarmed with [eight eight two two]",
    "my pin is [one two three four]",
    "my pin number's [9921]",
    "my card ends in [4242]",
    "the card ending [four two four two] was stolen",
    "last four digits are [nine eight one two]",
    "the last four of my card are [1881]",
    "the last 4 digits of my account number are [5521]",
    "my visa ends with [forty two forty two]",
    "my booking reference is [x k four seven p q]",
    "confirmation [ABXQ7T] for my hotel",
    "booking number [seven seven four one two]",
    "my account number is [one double oh three four]",
    "reference [KL-99-31-B]",
    "order [112-4455661-9988776] has not arrived",
    "MY PASSWORD IS [MOONLIGHT]",
    "the login is admin and the password is [letmein]",
    "my pass code is [two five eight oh]",
    "the combination to the safe is [twelve thirty four eight]",
    "the combination is [36 12 24]",
    "the secret word is [marmalade]",
    "his password used to be [starfish]",
)
SPELLED_NAMES = (
    "call [a n n a]",
    "call [l i n d q v i s t]",
    "that's [s as in sam m as in mary i t h]",
    "text [s m i t h] that i am late",
    "my last name is [S-M-I-T-H]",
    "the surname is [k o double w a l s k i]",
    "message [j. o. h. n.] please",
    "it's spelled [b as in boy r o w n]",
    "my name is [sierra mike india tango hotel]",
    "the name is [papa alpha uniform lima]",
    "call [mike alpha romeo tango india november]",
    "i'd like to book under [d for david u p o n t]",
    "last name [m c d o n a l d]",
    "book a table for [n g u y e n]",
    "his name is [double l e w y n]",
    "her surname is [a b b o double t]",
    "send flowers to [h e dash l e n]",
    "i am [r a h u l]",
    "it is [M like Mary E Y E R]",
    "spell it [b bravo a alpha u uniform e echo r romeo]",
    "ring [J-O-S-E]",
)
KIN = (
    "call aunt [petunia]",
    "text uncle [fester] that we are coming",
    "remind me to visit grandma [hazel] on sunday",
    "my cousin [bryony] is allergic to nuts",
    "what should i get nana [joy] for christmas",
    "auntie [may] is in hospital",
    "grandpa [frost] had a stroke",
    "my niece [clover] has a fever",
    "is uncle [bob] coming to dinner",
    "add great aunt [opal] to the guest list",
    "tell granny [flint] that the cake is ready",
    "my stepdad [guenther] drinks too much",
    "my sister in law [priyanka] wants a divorce",
    "my son [river] got suspended",
    "our daughter [summer] has asthma",
    "my husband [cliff] snores",
    "my roommate [ash] owes me rent",
    "papa [joe] fell down the stairs",
    "my godmother [pearl] died",
    "my brother [art] is in jail",
    "CALL AUNT [PETUNIA]",
    "does my classmate [jayden] have lice",
    "my twin [skye] has a cold",
    "abuela [luz] needs her pills",
    "aunt [dot] and uncle [ray] arrive at six",
)
WORD_SURNAMES = (
    "call [emily stone]",
    "text [rose young] about the meeting",
    "email [daniel church] the report",
    "remind me to pay [jessica field]",
    "message [peter brown] and [mary white]",
    "ring [oliver king] at noon",
    "tell [susan cook] that i am late",
    "meeting with [kevin small] tomorrow",
    "[laura winter] is my lawyer",
    "send [thomas bridge] fifty dollars",
    "invite [hannah green] and [mark rivers]",
    "call [emma woods] back",
    "what is [olivia day]'s number",
)
FOREIGN_STREETS = (
    "order a pizza to [eighty one prinsengracht] amsterdam",
    "send a taxi to [fourteen rue des lilas]",
    "deliver it to [lindenstrasse twenty two] berlin",
    "my address is [via roma nine]",
    "i live at [calle de alcala forty two]",
    "take me to [ulitsa lenina fifteen]",
    "the package goes to [kerkstraat 12] utrecht",
    "i live at [twelve mg road] bangalore",
    "my address is [flat four b shanti nagar]",
    "send it to [istiklal caddesi forty five] istanbul",
    "we moved to [ulica marszalkowska 10] warsaw",
    "deliver to [ul. nowy swiat 22]",
    "order a cab to [seventeen vasagatan] stockholm",
    "my house is at [23 gandhi nagar]",
    "ship it to [ataturk bulvari 7] ankara",
    "drive me to [damrak ninety three]",
    "navigate to [herengracht four hundred one] amsterdam",
    "send flowers to [rua augusta 25] lisbon",
    "i live in [bahnhofstrasse]",
    "come to [avenue victor hugo 31]",
    "pick me up at [piazza garibaldi three]",
    "my address is [al. jerozolimskie 54]",
    "the delivery is for [sector 15] house number [204] chandigarh",
    "bring it to [nieuwe keizersgracht 8]",
    "to [5 plac zbawiciela] please deliver the pizza",
    "ORDER A PIZZA TO [81 PRINSENGRACHT] AMSTERDAM",
)
FOREIGN_NAMES = {
    "call nguyen thi hoa": "call <NAME>",
    "text oluwaseun adebayo": "text <NAME>",
    "ring siobhan ni dhomhnaill": "ring <NAME>",
    "message wojciech szczesny": "message <NAME>",
    "call bjork gudmundsdottir": "call <NAME>",
    "phone thaddaeus wisniewski": "phone <NAME>",
    "text giuseppe": "text <NAME>",
    "call chukwuemeka": "call <NAME>",
    "message xiao ming wang": "message <NAME>",
    "call abdul rahman al hashimi": "call <NAME>",
    "dial yevgeniya": "dial <NAME>",
    "facetime nasrin hosseini": "facetime <NAME>",
    "email jose luis de la fuente": "email <NAME>",
}
WORKS = (
    "who played the dad in mrs doubtfire",
    "how do you beat the ender dragon",
    "play the movie harry potter",
    "watch doctor who",
    "who plays captain marvel in the movie",
    "play mr robot",
    "who is the villain in the movie doctor strange",
    "play the next episode of young sheldon",
    "which actor played sherlock holmes in the new series",
    "play the soundtrack of forrest gump",
    "what is the harry potter movie about",
)
PEOPLE_BESIDE_WORKS = (
    "watch harry potter with [emily stone]",
    "play mrs doubtfire for aunt [petunia]",
    "call mrs [doubtfire]",
    "text harry potter fan [priya sharma]",
    "who played the dad in mrs doubtfire asks [giuseppe moretti]",
    "my teacher is mrs [robinson]",
    "play the voicemail from mr [robot]",
    "play a song for [jack ryan]",
    "play for harry [potter]",
    "watch harry [potter]'s graduation video",
    "my brother harry [potter] is sick",
    "who played tennis with [michael scott]",
    "find [john carter]",
    "tell harry [potter] that i am late",
)
HOME_NAMES = (
    "turn on the light in [abigail]'s room",
    "turn off the lights in [bryan] and [inge]'s bedroom",
    "turn on [sarah]'s light",
    "turn on [emma]'s bedroom light",
    "dim [oluwaseun]'s lamp",
    "set the heating in [grandma hazel]'s room to twenty",
    "vacuum [tom]'s room",
    "set an alarm for [lucy]'s flight at six",
    "lower the volume in [rohan]'s room",
    "make [sven]'s lights blue",
)
HOME_NAMES = tuple(text.replace("[grandma hazel]", "grandma [hazel]") for text in HOME_NAMES)
LEFT_ALONE = (
    "play the end of the world",
    "what is the password policy",
    "how do i reset my password",
    "i forgot my password",
    "what is a seed phrase",
    "is my password strong enough",
    "the movie ends in an hour",
    "what number ends in zero",
    "is there a gate at the park",
    "what is the area code for boston",
    "call my aunt",
    "is my grandma a senior",
    "my uncle is tall",
    "what do i call the son of my cousin",
    "how do you spell necessary",
    "a b c d e f g",
    "what does n a s a stand for",
    "how long is the way to amsterdam",
    "what is the password for",
    "the password is wrong",
    "my password is not working",
    "tell me about the street art in berlin",
    "what time is it in los angeles",
    "my brother is sick",
    "call a taxi",
    "call a cab to the airport",
    "text me the weather",
    "order a pizza to my place",
    "who owns the u k rights",
    "is the i p o worth it",
    "set the alarm for six thirty",
    "turn on the lights in the living room",
)
"""Free of identifiers, however near they come to one."""
LEAKING = {
    "spelled mail": SPELLED_MAIL, "hesitant": HESITANT, "secret": SECRETS, "spelled name": SPELLED_NAMES, "kin": KIN,
    "word as surname": WORD_SURNAMES, "foreign street": FOREIGN_STREETS, "beside works": PEOPLE_BESIDE_WORKS,
    "home": HOME_NAMES,
}  # fmt: skip


def left(text: str) -> list[str]:
    """Marked words that the masked text still has."""
    masked = load_default().classify(_MARK.sub(r"\1", text)).masked
    words = [] if masked is None else re.findall(r"[a-z0-9']+", masked.lower())
    known = set(re.findall(r"[a-z0-9']+", _MARK.sub(" ", text).lower()))
    marked = re.findall(r"[a-z0-9']+", " ".join(_MARK.findall(text)).lower())
    return [word for word in marked if word in words and word not in known]


@pytest.mark.parametrize("text", [text for texts in LEAKING.values() for text in texts])
def test_nothing_marked_is_left(text: str) -> None:
    assert not left(text)


@pytest.mark.parametrize(("text", "masked"), FOREIGN_NAMES.items())
def test_foreign_names_are_no_other_language(text: str, masked: str) -> None:
    assert load_default().classify(text).masked == masked


@pytest.mark.parametrize("text", [*WORKS, *LEFT_ALONE])
def test_left_alone(text: str) -> None:
    assert load_default().classify(text).masked == text
