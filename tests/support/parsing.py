"""Whether the command line would take a command, without running it."""

from collections.abc import Sequence

import click

from proxid.cli.main import proxid


def parse(words: Sequence[str]) -> click.Context:
    """The context of `proxid WORDS…`; raises click.ClickException where the command would not be taken."""
    command: click.Command = proxid
    name, arguments, context = "proxid", list(words), None
    while True:
        context = command.make_context(name, arguments, parent=context)
        if not isinstance(command, click.Group):
            return context
        found, inner, arguments = command.resolve_command(context, [*context._protected_args, *context.args])
        assert found is not None and inner is not None
        name, command = found, inner
