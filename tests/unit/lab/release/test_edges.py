"""Names in two spellings are one person; an epsilon that promises nothing says so; plans end."""

import json
import time
from pathlib import Path

import pytest

from proxid.cli.main import main
from proxid.errors import ConfigError
from proxid.lab.release.guarantee import Guarantee, Relation, delta_warnings, require_epsilon_delta
from proxid.lab.release.partition.plan import MOST_ITEMS, gaussian_delta, gaussian_profile, partition_plan
from proxid.lab.release.same_users import other_spellings, plain_name


@pytest.mark.parametrize("name", ["bob", "Bob", "BOB ", "bob\u00a0", "\uff42\uff4f\uff42", "b\u200bob", "\tbob\n"])
def test_spellings_of_a_name_are_one(name: str) -> None:
    assert plain_name(name) == "bob"
    assert plain_name("bobby") != "bob"


def test_the_first_spelling_stands_for_all() -> None:
    assert other_spellings(["bob", "Bob", "ann", "bob "]) == {"bob": "Bob", "bob ": "Bob"}


def test_one_person_in_seven_spellings_is_no_crowd(tmp_path: Path) -> None:
    names = ["bob", "Bob", "BOB ", "bob\u00a0", "\uff42\uff4f\uff42", "b\u200bob", "bob "]
    rows = [json.dumps({"user": name, "query": "my secret"}) for name in names]
    rows += [json.dumps({"user": f"u{i}", "query": "weather"}) for i in range(5)]
    (tmp_path / "log.jsonl").write_text("\n".join(rows) + "\n")
    out = tmp_path / "out.jsonl"
    words = ["--method", "k-query", "--k", "4", str(tmp_path / "log.jsonl"), "-o", str(out)]
    assert main(["release", *words]) == 0
    assert "my secret" not in out.read_text()
    assert "weather" in out.read_text()


@pytest.mark.parametrize("epsilon", [5e-324, 1e-10, 701.0, 1e300])
def test_an_epsilon_that_no_noise_fits_is_a_configuration_error(epsilon: float) -> None:
    with pytest.raises(ConfigError, match="epsilon"):
        require_epsilon_delta(epsilon, 1e-6)
    with pytest.raises(ConfigError, match="epsilon"):
        partition_plan(5, epsilon, 1e-6)


def test_an_epsilon_that_promises_nothing_says_so() -> None:
    much, little = (Guarantee(epsilon, 1e-6, Relation.REPLACE) for epsilon in (20.5, 20.0))
    assert much.as_dict()["kind"].startswith("no guarantee")
    assert delta_warnings(much, 100) == [much.as_dict()["kind"]]
    assert little.as_dict()["kind"] == "differential privacy"
    assert delta_warnings(little, 100) == []


def test_plans_end() -> None:
    for m in (MOST_ITEMS + 1, 20_000, 10**9):
        with pytest.raises(ConfigError, match="m is between"):
            partition_plan(m, 1.0, 1e-6)
    begin = time.process_time()
    partition_plan(50, 1.0, 1e-6)
    assert time.process_time() - begin < 60


def test_delta_at_once_is_the_maximum_over_cases() -> None:
    m, epsilon, scale, t = 4, 1.0, 7.0, 20.0
    import math

    tail = 0.5 * math.erfc((t - 1) / scale / math.sqrt(2))
    stay = math.log1p(-tail)
    worst = max(
        math.exp(a * stay) * gaussian_profile(math.sqrt(2 * m - a - b) / scale, epsilon + b * stay)
        - math.expm1(a * stay)
        for a in range(m + 1)
        for b in range(m + 1)
    )
    assert gaussian_delta(m, epsilon, scale, t) == pytest.approx(worst, rel=1e-9)
