"""IPv6 addresses are masked whole, in every way that RFC 4291 §2.2 and RFC 4007 §11 write them."""

import pytest

from proxid.classify import load_default


@pytest.mark.parametrize(
    "address",
    ["2001:db8::ff00:42:8329", "2001:DB8::1", "fe80::1%eth0", "::1", "2001:db8::/32", "::ffff:10.0.0.1",
     "2001:0db8:85a3:0000:0000:8a2e:0370:7334", "2001:db8:1:2::5"],
)  # fmt: skip
def test_an_address_is_masked_whole(address: str) -> None:
    masked = load_default().classify(f"is {address} my address").masked
    assert masked == "is <IP> my address"


def test_times_and_names_with_colons_are_not_addresses() -> None:
    for text in ("wake me at 12:30:45 today", "use std::vector in c++"):
        assert "<IP>" not in (load_default().classify(text).masked or "")
