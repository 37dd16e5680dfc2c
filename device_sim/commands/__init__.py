"""`proxid device`: enrol, ask, consent, replay, rights, judge (DESIGN 15); its configuration is a household's."""

import click

from device_sim.commands.ask import ask, consent
from device_sim.commands.enrol import enrol
from device_sim.commands.judge import judge
from device_sim.commands.replay import replay
from device_sim.commands.rights import rights


@click.group("device", epilog="Example: proxid device ask --config trial/devices/household-1/device.toml -u ann hello")
def command() -> None:
    """A household's device: enrol users, consent, ask, replay files."""


for _command in (enrol, ask, consent, replay, rights, judge):
    command.add_command(_command)
