"""`proxid bench gateway`: what cannot be measured is refused before anything starts; stages are told by their files."""

import json
import os
from pathlib import Path

import pytest

import bench.gateway
from bench.gateway import Options
from bench.gateway.where import THREADS, Sampled
from bench.yardsticks.sampling import FOLDER, JOBS, LOOP, PLACES, stage_of
from proxid.errors import InputError

ROOT = Path(bench.gateway.__file__).parents[2]


@pytest.mark.parametrize("name", ["requests", "rounds", "workers", "people", "echo_seconds", "concurrency"])
@pytest.mark.parametrize("value", ["0", "-1", "many", "nan", "inf"])
def test_an_option_is_a_number_above_zero(name: str, value: str) -> None:
    with pytest.raises(InputError):
        Options.parse({name: value})


def test_no_more_calls_than_one_connection_may_have() -> None:
    with pytest.raises(InputError, match="128"):
        Options.parse({"concurrency": "129"})


def test_options_have_defaults() -> None:
    assert Options.parse({}) == Options() and Options.parse({"concurrency": "128"}).concurrency == 128


def test_a_part_that_there_is_none_of_is_refused() -> None:
    with pytest.raises(InputError, match="where"):
        bench.gateway.run({"part": "elsewhere"})


def test_every_place_that_a_stage_is_told_by_is_there() -> None:
    own = [place for place in (*JOBS, *PLACES) if not place.startswith("/")]
    assert len(own) > 15 and [place for place in own if not (ROOT / place).exists()] == []


@pytest.mark.parametrize(
    ("stack", "stage"),
    [
        (["nacl/bindings.py", "proxid/crypto/ed25519.py", "proxid/crypto/sansig/scheme.py"], "signatures"),
        (["asyncio/streams.py", "site-packages/redis/asyncio/connection.py", "gateway/requests.py"], "store's client"),
        (["proxid/encoding.py", "gateway/store/requests.py"], "messages and hashes"),
        (["contextlib.py", "gateway/requests.py", "proxid/runtime/transport/streams.py"], "checks, and the rest"),
        (["nacl/bindings.py", "proxid/crypto/ed25519.py", "gateway/releases.py"], "beside: records of groups"),
        (["asyncio/runners.py", "proxid/cli/serve.py"], LOOP),
    ],
)
def test_a_stack_is_filed_by_what_it_does_and_by_the_job_that_it_does_it_for(stack: list[str], stage: str) -> None:
    assert stage_of(stack) == stage


def test_what_processes_took_is_shared_out_by_the_samples_of_the_rounds(tmp_path: Path) -> None:
    seconds = {
        at: {"stages": {"signatures": 30, LOOP: 10 * (at == 5)}, "main": 0.6 * at, "all": 0.8 * at} for at in range(20)
    }
    before = dict(os.environ)
    with Sampled(tmp_path) as sampled:
        Path(os.environ[FOLDER], "gateway.7.json").write_text(json.dumps(seconds), encoding="utf-8")
        assert (Path(os.environ["PYTHONPATH"].split(os.pathsep)[0]) / "sitecustomize.py").exists()
    assert dict(os.environ) == before
    figures = sampled.figures({"gateway": 1000.0, "client": 500.0}, [(4.5, 7.5), (9.0, 11.0)])
    assert {name: figure["value"] for name, figure in figures.items()} == {
        "gateway: signatures": 692.3, f"gateway: {THREADS}": 250.0, f"gateway: {LOOP}": 57.7, "client: all": 500.0,
        "all": 1500.0,
    }  # fmt: skip
