"""`proxid device`: enrol, ask, consent, status, replay, rights, judge (DESIGN 15), with a household's configuration."""

import click

from device_sim.commands.ask import ask
from device_sim.commands.consent import consent, status
from device_sim.commands.enrol import enrol
from device_sim.commands.judge import judge
from device_sim.commands.replay import replay
from device_sim.commands.rights import rights


@click.group("device", epilog="Example: proxid device ask --config trial/devices/household-1/device.toml -u ann hello")
def command() -> None:
    """A household's device: enrol users, consent, ask, replay files."""


for _command in (enrol, ask, consent, status, replay, rights, judge):
    command.add_command(_command)
