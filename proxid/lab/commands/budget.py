"""`proxid budget`: what was released of each log, and what its budget still allows (DESIGN 13)."""

import json
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.table import Table

from proxid.errors import BudgetError, InputError
from proxid.lab.commands.common import FILE, OUTPUT, say_columns
from proxid.lab.release.account import Account, Part, entry_now
from proxid.lab.release.guarantee import Guarantee, Relation, require_epsilon_delta
from proxid.lab.release.ledger import Ledger, default_ledger
from proxid.lab.release.purse import dataset_key, key_of


@click.command("budget", epilog="Example: proxid budget log.tsv --epsilon 1 --delta 1e-6")
@click.argument("log", required=False, type=FILE)
@click.option("--dataset", default="", help="The data's name, as `proxid release --dataset` was given it.")
@click.option("--ledger", type=OUTPUT, help="The ledger's file [release-ledger.json in the user's state folder].")
@click.option("--epsilon", type=float, help="Would a release of this epsilon (replacing one user) be allowed?")
@click.option("--delta", type=float, default=0.0, help="And of this delta.")
@click.option("--json", "as_json", is_flag=True, help="Print an object.")
def command(
    log: Path | None, dataset: str, ledger: Path | None, epsilon: float | None, delta: float, as_json: bool
) -> int:  # fmt: skip
    """Show the budget ledger's accounts, or that of LOG, which is known by its records, or that of a dataset.

    Nothing is charged. Exit status 1 if a release of `--epsilon` and `--delta` would be refused.
    """
    book = Ledger(ledger or default_ledger())
    key = _key(book, log, dataset)
    accounts = book.accounts()
    done: dict[str, Any] = {
        "ledger": str(book.path),
        "accounts": {known: _facts(account) for known, account in accounts.items() if key in (None, known)},
    }
    if epsilon is not None:
        if key is None:
            raise InputError("--epsilon needs a LOG or a --dataset")
        done["refused"] = _refusal(accounts.get(key), epsilon, delta)
    if as_json:
        click.echo(json.dumps(done))
    else:
        _print(done)
    return 1 if done.get("refused") else 0


def _key(book: Ledger, log: Path | None, dataset: str) -> str | None:
    if log is not None and dataset:
        raise InputError("give a LOG or a --dataset")
    if log is not None:
        say_columns(log)
        return key_of(book, log)
    return dataset_key(dataset) if dataset else None


def _refusal(account: Account | None, epsilon: float, delta: float) -> str:
    """Why a release of that cost would be refused, or "". Raises ConfigError for a cost that no release has."""
    require_epsilon_delta(epsilon, delta, zero_delta=True)
    try:
        if account is not None:
            account.charged(entry_now("asked", Guarantee(epsilon, delta, Relation.REPLACE), Part()))
    except BudgetError as error:
        return error.rule
    return ""


def _facts(account: Account) -> dict[str, Any]:
    """An account for printing; `left` is what one more release about everybody may cost."""
    spent, allowed = account.spent(), account.allowed()
    return {
        "name": account.name,
        "declared": account.declared,
        "relation": allowed.relation.value,
        "budget": {"epsilon": allowed.epsilon, "delta": allowed.delta},
        "spent": {"epsilon": spent.epsilon, "delta": spent.delta},
        "left": {
            "epsilon": max(0.0, allowed.epsilon - spent.epsilon), "delta": max(0.0, allowed.delta - spent.delta),
        },
        "releases": [
            {
                "time": entry.time, "mechanism": entry.mechanism, "part": f"{entry.part.part}/{entry.part.parts}",
                "epsilon": entry.cost.epsilon, "delta": entry.cost.delta, "relation": entry.cost.relation.value,
            }
            for entry in account.entries
        ],
    }  # fmt: skip


def _print(done: dict[str, Any]) -> None:
    console = Console()
    console.print(f"ledger {done['ledger']}", highlight=False, soft_wrap=True)
    for key, facts in done["accounts"].items():
        kind = "declared" if facts["declared"] else "not declared: the first release's cost"
        table = Table(title=f"{facts['name']} ({key[:24]}), budget {kind}", title_justify="left")
        for column in ("", "epsilon", "delta", "neighbours", "when"):
            table.add_column(column)
        for entry in facts["releases"]:
            numbers = (f"{entry['epsilon']:.6g}", f"{entry['delta']:.6g}")
            table.add_row(entry["mechanism"], *numbers, entry["relation"], entry["time"])
        for name in ("spent", "budget", "left"):
            numbers = (f"{facts[name]['epsilon']:.6g}", f"{facts[name]['delta']:.6g}")
            table.add_row(name, *numbers, facts["relation"], "")
        console.print(table)
    if not done["accounts"]:
        console.print("nothing was charged", highlight=False)
    if "refused" in done:
        console.print(f"refused: {done['refused']}" if done["refused"] else "allowed", highlight=False, soft_wrap=True)
