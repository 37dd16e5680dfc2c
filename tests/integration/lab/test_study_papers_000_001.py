"""The findings of 000 and 001 on the synthetic log, and the commands that print them."""

import json
from pathlib import Path

import numpy as np
import pytest

from proxid.cli.main import main
from proxid.errors import InputError
from proxid.lab.concepts import ConceptMapper
from proxid.lab.logs.files import create_log
from proxid.lab.release.microaggregation.method import columns
from proxid.lab.release.semantic.phrases import map_log
from proxid.lab.release.semantic.quality import Criterion
from proxid.lab.release.semantic.topics import FOUR, NINETEEN, OTHER, categorise
from proxid.lab.studies.microaggregation import RANDOM, SIMILAR
from proxid.lab.studies.microaggregation import run as run_microaggregation
from proxid.lab.studies.microaggregation_report import mean
from proxid.lab.studies.semantic import HBDP, PROFILES, Plan
from proxid.lab.studies.semantic import run as run_semantic
from proxid.lab.studies.semantic_report import ordering, paired
from proxid.lab.studies.topical_log import ALL_TOPICS, LogShape, make_topical_log
from proxid.loglines.layout import Layout
from proxid.ontology.wordnet import load


def plan(users: int, **rest: object) -> Plan:
    wordnet = load()
    batch, dictionaries = make_topical_log(wordnet, LogShape(users=users), 1)
    scope = np.flatnonzero(categorise(wordnet, FOUR) != OTHER)
    phrases = map_log(batch, dictionaries.query, ConceptMapper(wordnet, scope.tolist()))
    inside = categorise(wordnet, NINETEEN)[phrases.concept] != OTHER
    user = np.unique(phrases.user[inside], return_inverse=True)[1]
    return Plan(user, phrases.concept[inside], **rest)  # type: ignore[arg-type]


def test_domains_equal_to_topics_lose_nothing_and_histograms_do() -> None:
    chosen = plan(12, epsilons=(1.0,), runs=1, settings=("A",), hbdp_users=(4, 2))
    losses = run_semantic(load(), chosen, np.random.default_rng(1).bytes)
    assert [losses.equal["A", str(c)] for c in Criterion] == [0.0, 0.0, 0.0]
    assert losses.equal["A", HBDP] > 0
    assert losses.values["topics", "A", "user", "sqc2"].shape == (1, 12)


def test_a_log_about_nothing_of_it_is_refused() -> None:
    empty = np.empty(0, np.int64)
    with pytest.raises(InputError):
        run_semantic(load(), Plan(empty, empty), np.random.default_rng(1).bytes)


@pytest.mark.slow
def test_the_order_of_000_in_setting_a() -> None:
    # 000 §4: for ε > 1 SQC2 is best, then SQC1, not worse than NSQC; HBDP is worst (here: paired 95 % intervals).
    chosen = plan(400, epsilons=(2.0, 4.0, 6.0, 8.0, 10.0), settings=("A",), hbdp_users=(40, 1))
    losses = run_semantic(load(), chosen, np.random.default_rng(1).bytes)
    assert all(ordering(losses, "topics", "A", "query").values())
    assert all(ordering(losses, "other", "A", "query").values())
    # With ε/m a query, m ≈ 100, the curves are nearly flat: no criterion gains 0.02 bits from ε = 2 to 10.
    for criterion in Criterion:
        for kind in PROFILES:
            curve = losses.values[kind, "A", "user", str(criterion)]
            assert abs(paired(curve[0], curve[-1])["mean"]) < 0.02


def test_srp_over_theory_and_over_random_clusters_at_every_level() -> None:
    # 001 §4.2.2, Figure 3: for k = 2..5 at every level.
    shape = LogShape(300, 40.0, spread=1.2, topics=ALL_TOPICS, unusual=0.15, vanity=0.01, categories=5)
    batch, dictionaries = make_topical_log(load(), shape, 1)
    remains = run_microaggregation(columns(batch, dictionaries)[0], 5, 1)
    for (first, kind, k), values in remains.values.items():
        if kind == SIMILAR:
            average, half = mean(values)
            assert (average - half > 1 / k).all()
            gain, gain_half = mean(values - remains.values[first, RANDOM, k])
            assert (gain - gain_half > 0).all()


def test_the_synthetic_log_is_a_log_and_depends_on_its_seed_alone() -> None:
    shape = LogShape(30, 20.0, topics=ALL_TOPICS, unusual=0.2, vanity=0.05, categories=5)
    (a, names), (b, _), (c, _) = (make_topical_log(load(), shape, seed) for seed in (1, 1, 2))
    assert len(a) and (a.query == b.query).all() and (a.time == b.time).all()
    assert len(a) != len(c) or (a.time != c.time).any()
    assert (np.diff(a.time) >= 0).all() and len(np.unique(a.user)) == 30
    assert (np.bincount(a.user) >= 2).all()
    assert np.mean(["|" in names.category[x] for x in a.category.tolist()]) > 0.8  # an only child has no related ones


@pytest.mark.parametrize("study", ["semantic", "microaggregation"])
def test_the_commands_write_figures_numbers_and_a_manifest(
    study: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    batch, dictionaries = make_topical_log(load(), LogShape(12, 10.0), 3)
    log = tmp_path / "log.tsv"
    with create_log(log, Layout().having("category"), dictionaries) as out:
        out.write(batch)
    arguments = ["study", study, str(log), "--out", str(tmp_path / "out"), "--json"]
    arguments += ["--settings", "A", "--runs", "1"] if study == "semantic" else []
    assert main(arguments) == 0
    found = json.loads(capsys.readouterr().out)
    names = {Path(file).name for file in found["files"]}
    assert f"{study}.json" in names and f"{study}.manifest.json" in names
    assert {Path(name).suffix for name in names} == {".png", ".svg", ".json"}
    manifest = json.loads((tmp_path / "out" / f"{study}.manifest.json").read_text())
    assert manifest["study"] == study and set(manifest["files"]) == names - {f"{study}.manifest.json"}


def test_a_setting_that_does_not_exist_is_refused() -> None:
    assert main(["study", "semantic", "--settings", "D"]) == 2
