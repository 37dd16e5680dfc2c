"""Every kind of direct identifier (HIPAA Safe Harbor), spoken and written; and what must be left alone."""

import pytest

from proxid.classify import load_default

SPOKEN = {
    "call maria lopez at six one seven five five five oh one two three": "call <NAME> at <PHONE>",
    "email john dot smith at gmail dot com about the meeting": "email <EMAIL> about the meeting",
    "forward the report to blue sky seventy seven at hotmail dot com please": "forward the report to <EMAIL> please",
    "my social security number is one two three forty five six seven eight nine": "my social security number is <SSN>",
    "the last four of my social are one two three four": "the last four of my social are <SSN>",
    "send it to one twenty three main street springfield illinois six two seven zero one": "send it to <ADDRESS>",
    "i live at four twenty two oak avenue apartment four b": "i live at <ADDRESS>",
    "i live on maple street": "i live on <ADDRESS>",
    "my license plate is seven a b c one two three": "my license plate is <PLATE>",
    "my medical record number is m r n zero zero one two three four five": "my medical record number is <MRN>",
    "my member id is w two two one three nine": "my member id is <PLAN>",
    "my driver's license number is d one two three four five six seven": "my driver's license number is <LICENSE>",
    "go to w w w dot blue sky travels dot com slash john": "go to <URL>",
    "my ip is one ninety two dot one sixty eight dot one dot one": "my ip is <IP>",
    "my date of birth is march fifteenth nineteen eighty four": "my date of birth is <DATE>",
    "my grandmother is ninety four years old": "my grandmother is <AGE>",
    "fax it to six one seven five five five oh one nine nine": "fax it to <FAX>",
    "zip code nine oh two one oh": "zip code <ZIP>",
    "four five six seven is my pin": "<ID> is my pin",
    "card ending in four four two one": "card ending in <ACCOUNT>",
    "b as in boy four four seven one is my confirmation code": "<ID> is my confirmation code",
    "my name is spelled j o h n s m i t h": "my name is spelled <NAME>",
    "my twitter handle is at blue sky underscore nine": "my twitter handle is at <HANDLE>",
    "my phone number is double five five three four seven one": "my phone number is <PHONE>",
}
WRITTEN = {
    "My SSN is 123-45-6789.": "My SSN is <SSN>.",
    "Call (617) 555-0123 or +44 20 7946 0958.": "Call <PHONE> or <PHONE>.",
    "john.smith@example.co.uk, and J_DOE+x@MAIL.org!": "<EMAIL>, and <EMAIL>!",
    "iban GB29NWBK60161331926819": "iban <ACCOUNT>",
    "my visa is 4111 1111 1111 1111": "my visa is <ACCOUNT>",
    "vin 1HGCM82633A004352": "vin <VEHICLE>",
    "plate number ABC-1234": "plate number <PLATE>",
    "ping 192.168.0.1": "ping <IP>",
    "see https://example.org/users/john?id=7": "see <URL>",
    "i was born on 03/14/1985": "i was born on <DATE>",
    "MY SOCIAL IS 123-45-6789": "MY SOCIAL IS <SSN>",
    "my mac address is 00:1A:2B:3C:4D:5E": "my mac address is <DEVICE>",
    "Please email Mary-Jane O'Connor-Smith at mj@x.org": "Please email <NAME> at <EMAIL>",
}
BESIDE = {
    "my cell is six one seven five five five oh one two three e mail works too": "my cell is <PHONE> e mail works too",
    "Phone 617-555-0123, e-mail to follow": "Phone <PHONE>, e-mail to follow",
    "fax 617 555 0199 e-mail dana@example.org": "fax <FAX> e-mail <EMAIL>",
    "my order number is QK518830 still waiting": "my order number is <ACCOUNT> still waiting",
    "forward it to my parents' lou@example.org": "forward it to my parents' <EMAIL>",
    "send it to the neighbours' lou at example dot com": "send it to the neighbours' <EMAIL>",
    "The site is https://www.example.org/ Hours are posted": "The site is <URL> Hours are posted",
    "deliver to 52 Maple Avenue zip code 02139": "deliver to <ADDRESS> zip code <ZIP>",
    "meet me at the corner of Pine St. and Cedar Ave.": "meet me at the corner of <ADDRESS>. and <ADDRESS>.",
    "i live at nine oak street suite four oh two i am home": "i live at <ADDRESS> i am home",
    "the patient is laura bennett mrn four four one nine two seven": "the patient is <NAME> mrn <MRN>",
    "Laura Bennett employs two gardeners": "<NAME> employs two gardeners",
    "jessica shouted at gerald in the yard": "<NAME> shouted at <NAME> in the yard",
    "the account of peter marsh username skylark nine": "the account of <NAME> username <HANDLE>",
    "mister hudson is a teacher who grew up in ohio": "<NAME> is a teacher who grew up in ohio",
}
"""What stands beside an identifier is left where it says nothing of anybody."""
FREE = (
    "what is five hundred divided by twelve", "what is 12345678 times 2", "population of 1,250,000 people",
    "what is pi 3.14159265", "set an alarm for six forty five am", "how long is a ten minute drive",
    "what happened on december seventh nineteen forty one", "remind me on july fourth", "what is my account balance",
    "pay five hundred dollars on my visa card", "what is the weather in west virginia", "will it rain in san jose",
    "transfer two thousand dollars from checking to savings account", "turn the lights to fifty percent",
    "how do you say hello in french", "what is the square root of 1764925", "play episode number five",
    "my credit card expires in twenty twenty five", "how many calories are in an apple", "mark it as done",
)  # fmt: skip


def masked(text: str) -> str | None:
    return load_default().classify(text).masked


@pytest.mark.parametrize(("text", "expected"), SPOKEN.items())
def test_spoken(text: str, expected: str) -> None:
    assert masked(text) == expected


@pytest.mark.parametrize(("text", "expected"), WRITTEN.items())
def test_written(text: str, expected: str) -> None:
    assert masked(text) == expected


@pytest.mark.parametrize("text", FREE)
def test_left_alone(text: str) -> None:
    assert masked(text) == text


@pytest.mark.parametrize(("text", "expected"), BESIDE.items())
def test_what_stands_beside_an_identifier_is_left(text: str, expected: str) -> None:
    assert masked(text) == expected


def test_a_name_is_masked_wherever_it_stands() -> None:
    result = load_default().classify("tell maria that maria's mother called")
    assert result.masked is not None
    assert "maria" not in result.masked


def test_public_figures_by_policy() -> None:
    text = "when was albert einstein born"
    assert load_default().classify(text).masked == "when was <NAME> born"
    assert load_default("keep").classify(text).masked == text
    private = load_default("keep").classify("call maria lopez tomorrow")
    assert private.masked == "call <NAME> tomorrow"
