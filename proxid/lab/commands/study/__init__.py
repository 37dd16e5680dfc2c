"""`proxid study`: a paper's experiments as one command.

STUDIES says where each study's click command is; a study is imported only when it is asked for.
"""

import importlib

import click

STUDIES: dict[str, str] = {
    "zealous": "proxid.lab.commands.study.zealous:command",
    "sessions": "proxid.lab.commands.study.sessions:command",
    "all": "proxid.lab.commands.study.comparison:command",
    "semantic": "proxid.lab.commands.study.semantic:command",
    "microaggregation": "proxid.lab.commands.study.microaggregation:command",
    "thesis": "proxid.lab.commands.study.thesis:command",
}
"""Name of each study and `module:attribute`; add a line for a new one."""


class StudyGroup(click.Group):
    """Loads a study's module on first use."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(STUDIES)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        target = STUDIES.get(cmd_name)
        if target is None:
            return None
        module, attribute = target.split(":")
        study = getattr(importlib.import_module(module), attribute)
        assert isinstance(study, click.Command)
        return study


@click.command("study", cls=StudyGroup, epilog="Example: proxid study thesis --out study")
def command() -> None:
    """Run a paper's experiments and draw its figures."""
