"""Failures of what an operator or a user hands over: configuration, files, budgets, processes."""

from proxid.errors.codes import Code, ProxidError


class ConfigError(ProxidError):
    """A configuration key is unknown, missing or out of range; the rule names the key."""

    code = Code.CONFIG_INVALID


class InputError(ProxidError):
    """A file or an argument given by the user is unusable; the rule says where, not what it held."""

    code = Code.INPUT_INVALID


class OutputError(ProxidError):
    """A file could not be written whole (no space, no permission); nothing of it was left under its name."""

    code = Code.OUTPUT_FAILED


class BudgetError(ProxidError):
    """A release would spend more than its input's declared privacy budget (DESIGN 13)."""

    code = Code.BUDGET_EXCEEDED


class HouseholdBusyError(ProxidError):
    """A household's keys are open in another process (DESIGN 5.6)."""

    code = Code.HOUSEHOLD_BUSY


class ChildError(ProxidError):
    """A process that this one started ended, or did not do its part in time; the rule names it."""

    code = Code.CHILD_FAILED
