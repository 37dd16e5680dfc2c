"""Writes the measured part of docs/results/models.md, between its two marks: figures with intervals, leaks, sizes, curves.

python -m scripts.models.report
"""

import json
import time
from collections import Counter
from collections.abc import Mapping

from bench import machine
from bench.classify import BASELINE, BASELINE_COMMIT, REACH, details, resources
from bench.classify.product import report_lines, score_of
from proxid.classify import Pipeline, corpora, load_default
from proxid.classify.scoring import wilson
from scripts.models.output import CURVE, ROOT, SHIPPED, TRAINED

START, END = "<!-- measured: begin -->", "<!-- measured: end -->"
PAGE = ROOT / "docs" / "results" / "models.md"


def figures(pipeline: Pipeline) -> list[str]:
    """Two tables: what the product answers, and what stages give alone."""
    head = ["| figure | measured | 95 % interval | of | reach | before |", "|---|---|---|---|---|---|"]
    product, stages = list[str](), list[str]()
    for name, (value, low, high, total) in details(pipeline).items():
        row = f"| `{name}` | {value:.4f} | {low:.4f}-{high:.4f} | {total} | {_known(REACH, name)} | {_known(BASELINE, name)} |"
        (stages if name.startswith("stage_") else product).append(row)
    for name, value in (resources.speed(pipeline) | resources.sizes()).items():
        product.append(f"| `{name}` | {value:,.4g} | | | {_known(REACH, name)} | {_known(BASELINE, name)} |")
    lines = [
        f"Through `classify`; whatever is rejected or withheld is wrong. Before: the product at {BASELINE_COMMIT}.", "",
        *head, *product, "", "What stages give alone, past those before them:", "", *head, *stages,
    ]  # fmt: skip
    return [
        *lines,
        "",
        "Machine: " + machine()["processor"] + ", Python " + machine()["python"] + ", processor time of one core.",
    ]


def _known(values: Mapping[str, float | None], name: str) -> str:
    value = values.get(name)
    return "" if value is None else f"{value:,.4g}"


def kinds(pipeline: Pipeline) -> list[str]:
    """Leaks of the large report set by kind of identifier."""
    score = score_of(pipeline, report_lines())
    leaks = Counter(kind for kind, _, _ in score.leaks)
    wanted = Counter(kind for line in report_lines() for kind in _kinds(line))
    rows = [
        f"| {kind} | {total} | {leaks[kind]} | {1 - leaks[kind] / total:.3f} |" for kind, total in wanted.most_common()
    ]
    return ["| kind | spans | with a word unmasked | fully masked |", "|---|---|---|---|", *rows]


def _kinds(line: str) -> list[str]:
    from proxid.classify.scoring import parse

    return [kind for _, _, kind in parse(line)[1] if kind != "~"]


def small_sets(pipeline: Pipeline) -> list[str]:
    """The hand-made sets: intervals are wide, every leak is listed."""
    lines = []
    for name in ("pos", "blind"):
        score = score_of(pipeline, corpora.marked(f"identifiers_{name}_dev.txt"))
        low, high = wilson(score.clean, score.utterances)
        lines.append(
            f"- `identifiers_{name}_dev.txt`: {score.clean} of {score.utterances} utterances without a leak "
            f"({low:.2f}-{high:.2f}), word recall {score.recall:.3f}, precision {score.precision:.3f}."
        )
        lines += [f'  - leak ({kind}): "{words}" in "{text}"' for kind, words, text in score.leaks]
    touched = [t for t in corpora.marked("identifiers_neg_dev.txt") if pipeline.classify(t).masked != t]
    lines.append(
        f"- `identifiers_neg_dev.txt`: {len(touched)} of 35 touched" + "".join(f'; "{t}"' for t in touched) + "."
    )
    for policy in ("mask", "keep"):
        chosen = load_default(policy)
        whole = sum(chosen.classify(t).masked == t for t in corpora.marked("identifiers_public_dev.txt"))
        lines.append(f"- `identifiers_public_dev.txt`, public figures `{policy}`: {whole} of 3 left as they are.")
    return lines


def curve() -> list[str]:
    """Risk and coverage on the held-out training utterances."""
    held = json.loads(CURVE.read_text())
    lines = [f"Temperature {held['temperature']}, threshold {held['threshold']}.", "",
             "| threshold | coverage | risk |", "|---|---|---|"]  # fmt: skip
    lines += [
        f"| {t:.2f} | {coverage:.4f} | {risk:.4f} |"
        for t, coverage, risk in held["risk_coverage"]
        if round(t * 100) % 5 == 0
    ]
    return lines


def out_of_scope(pipeline: Pipeline) -> list[str]:
    """What the threshold does to out-of-scope and to in-scope utterances."""
    sets = {
        "CLINC out of scope": corpora.clinc_out_of_scope(),
        "CLINC test": corpora.clinc_test(),
        "SLURP test": corpora.slurp_test(),
    }
    lines = []
    for name, rows in sets.items():
        rejected = sum(pipeline.classify(row.text).type is None for row in rows)
        lines.append(f"- {name}: {rejected} of {len(rows)} rejected.")
    return lines


def lengths(pipeline: Pipeline) -> list[str]:
    """Time against length."""
    lines = ["| characters | ms | us a character |", "|---|---|---|"]
    piece = "call john at five five five one two three four or mail a dot b at c dot com "
    for size in (250, 500, 1000, 2000, 4000):
        text = (piece * (size // len(piece) + 1))[:size].strip()
        best = min(_milliseconds(pipeline, text) for _ in range(7))
        lines.append(f"| {size} | {best:.2f} | {best * 1000 / size:.2f} |")
    return lines


def _milliseconds(pipeline: Pipeline, text: str) -> float:
    start = time.thread_time()
    pipeline.classify(text)
    return (time.thread_time() - start) * 1000


def sizes() -> list[str]:
    """Sizes of the shipped artefacts."""
    found = [path for path in SHIPPED.rglob("*") if path.is_file()] + [*TRAINED.rglob("*.npz")]
    files = sorted(found, key=lambda path: -path.stat().st_size)
    total = sum(path.stat().st_size for path in files)
    return [
        f"Together {total / 1e6:.1f} MB: "
        + ", ".join(
            f"`{p.parent.name}/{p.name}` {p.stat().st_size / 1e6:.2f}" for p in files if p.stat().st_size > 50_000
        )
        + "; the rest are word lists."
    ]


def main() -> None:
    """Measure and write."""
    pipeline = load_default()
    removed = corpora.training()[1]
    parts = {
        "Figures": figures(pipeline), "Kinds of identifiers, large report set": kinds(pipeline), "Hand-made sets": small_sets(pipeline),
        "Reject option, held-out training utterances": curve(), "What the threshold rejects": out_of_scope(pipeline),
        "Time against length": lengths(pipeline), "Sizes": sizes(),
        "Overlap": [f"{removed} training utterances were removed because their text occurs in a report split."],
    }  # fmt: skip
    body = "\n\n".join(f"### {title}\n\n" + "\n".join(lines) for title, lines in parts.items())
    page = PAGE.read_text()
    head, _, rest = page.partition(START)
    PAGE.write_text(head + START + "\n\n" + body + "\n\n" + END + rest.partition(END)[2])


if __name__ == "__main__":
    main()
