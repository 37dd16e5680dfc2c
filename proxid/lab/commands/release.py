"""`proxid release`: anonymise a log file by one of the methods of DESIGN 13; the methods are plug-ins."""

from pathlib import Path
from typing import Any

import click
from rich.console import Console

from proxid.errors import ConfigError, InputError
from proxid.lab.commands.common import (
    FILE,
    facts_table,
    filing_of,
    filing_options,
    print_json,
    progress_bar,
    say_columns,
    warn_if_empty,
    warn_of,
)
from proxid.lab.filing import Filing
from proxid.lab.logs.digest import digest_of
from proxid.lab.release.manifest import manifest_path, write_manifest
from proxid.lab.release.registry import METHODS, Job, Method, Option, Outcome, load_method

DEFAULT = "kbuffer"
NEW = click.Path(dir_okay=False, path_type=Path)


class ReleaseCommand(click.Command):
    """A command whose options are those of the method that the command line names."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        ctx.meta["proxid.method"] = method = _method_of(args)
        if "--experiment" in args and all(option.key != "experiment" for option in method.options):
            raise InputError(f"{method.name} charges no budget: it needs no --experiment")
        return super().parse_args(ctx, args)

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        method: Method | None = ctx.meta.get("proxid.method")
        own = [] if method is None else [_click_option(option) for option in method.options]
        return [*self.params, *own, *filter(None, [self.get_help_option(ctx)])]

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """What the methods are, which one's options were shown, an example."""
        with formatter.section("Methods (their options: proxid release --method NAME --help)"):
            formatter.write_dl([(name, _title(name)) for name in sorted(METHODS)])
        method: Method = ctx.meta.get("proxid.method") or load_method(DEFAULT)
        formatter.write_paragraph()
        formatter.write("  All of them side by side, on any log: proxid study all LOG\n")
        formatter.write(f"  Example: proxid release --method {method.name} {method.example}\n")  # whole: to be copied


def _title(name: str) -> str:
    try:
        return load_method(name).title
    except ImportError:
        return "(not installed)"


def _method_of(args: list[str]) -> Method:
    """The method that the arguments name, before they are parsed."""
    name = DEFAULT
    for at, arg in enumerate(args):
        if arg == "--method" and at + 1 < len(args):
            name = args[at + 1]
        elif arg.startswith("--method="):
            name = arg.partition("=")[2]
    return load_method(name)


def _click_option(option: Option) -> click.Option:
    """The command line's form of a method's option."""
    dashed = "--" + option.key.replace("_", "-")
    shown = f"{option.help} [{option.default}]" if option.default not in (None, "") else option.help
    if option.type is bool:
        names = [option.key, f"{dashed}/--no-{dashed[2:]}"]
        return click.Option(names, default=None, help=f"{option.help} [{'yes' if option.default else 'no'}]")
    kind: click.ParamType[Any] | type = click.Choice(option.choices) if option.choices else option.type
    return click.Option([option.key, dashed], type=kind, default=None, help=shown)


@click.command("release", cls=ReleaseCommand)
@click.argument("source", metavar="IN", type=FILE)
@click.option(
    "-o", "--output", required=True, type=click.Path(dir_okay=False, path_type=Path), help="Release to write."
)
@click.option("--method", default=DEFAULT, show_default=True, help="How; see below.")
@click.option("--classify/--no-classify", default=True, help="File queries that come without a category [yes].")
@filing_options
@click.option(
    "--truth", type=click.Path(dir_okay=False, path_type=Path), help="Write the secret truth beside, for `attack`."
)
@click.option("--seed", type=int, help="Reproducible, for experiments only: whoever knows it undoes the release.")
@click.option("--json", "as_json", is_flag=True, help="Print the manifest.")
def command(
    source: Path, output: Path, method: str, classify: bool, truth: Path | None,
    seed: int | None, as_json: bool, **given: Any,
) -> int:  # fmt: skip
    """Anonymise the log IN (AOL TSV, JSON lines or Parquet; .gz) and write a manifest beside the release.

    The manifest says what was done, what it guarantees, and what was left out and why. Nothing half-written stays.
    """
    chosen: Method = click.get_current_context().meta["proxid.method"]
    if chosen.name != method and method not in METHODS:
        raise ConfigError(f"method is one of {', '.join(sorted(METHODS))}")
    _check_paths(source, output, truth)
    filing = (filing_of(given) or Filing()) if classify else None
    options = chosen.checked({key: value for key, value in given.items() if value is not None})
    say_columns(source)
    digest = digest_of(source)
    with progress_bar(method) as progress:
        job = Job(source, output, options, seed, filing, filing.said if filing else {}, truth, progress)
        outcome = chosen.run(job)
    manifest = write_manifest(job, method, outcome, digest)
    warn_if_empty(outcome.records_in, "the log")
    warn_of(manifest.get("categories"))
    _warn_if_nothing(outcome)
    if options.get("experiment"):
        said = f"warning: no guarantee: {manifest['guarantee']['why']}"
        Console(stderr=True).print(said, style="yellow", highlight=False)
    if as_json:
        print_json(manifest)
    else:
        _print(manifest, outcome, output)
    return 0


def _warn_if_nothing(outcome: Outcome) -> None:
    """Say on stderr that a log's records are all held back, and why."""
    if outcome.records_in and not outcome.records_out:
        why = "; ".join(f"{reason} ({count})" for reason, count in outcome.suppressed.items() if count)
        Console(stderr=True).print(f"warning: nothing was released: {why}", style="yellow", highlight=False)


def _check_paths(source: Path, output: Path, truth: Path | None) -> None:
    """Raises InputError where one file would overwrite another."""
    paths = [source, output, manifest_path(output), *([truth] if truth else [])]
    if len({path.resolve() for path in paths}) < len(paths):
        raise InputError("the log, the release, its manifest and the truth are different files")


def _print(manifest: dict[str, Any], outcome: Outcome, output: Path) -> None:
    console = Console(stderr=True)
    for line, reason in outcome.bad_lines[:20]:
        console.print(f"line {line}: {reason}", style="yellow", highlight=False)
    if (hidden := sum(outcome.bad_rows.values()) - min(20, len(outcome.bad_lines))) > 0:
        console.print(f"and {hidden} more unreadable rows", style="yellow", highlight=False)
    for warning in outcome.details.get("warnings", []):
        console.print(f"warning: {warning}", style="yellow", highlight=False)
    facts = {"release": str(output), **{name: manifest[name] for name in ("mechanism", "guarantee", "counts")}}
    Console().print(facts_table("Released", facts))
