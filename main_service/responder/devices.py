"""Device commands are acknowledged: a device carries them out itself when the answer says so."""

import re

from main_service.responder.base import Context

_COMMANDS = (
    (re.compile(r"\b(?:set|wake me|alarm|remind|reminder|timer)\b"), "Okay, I've set that."),
    (re.compile(r"\b(?:turn|switch|lights?|lamp|dim|brighten)\b"), "Okay, done."),
    (re.compile(r"\b(?:play|resume|song|music|podcast|radio|audiobook)\b"), "Okay, playing."),
    (re.compile(r"\b(?:stop|pause|cancel|mute|quiet|silence)\b"), "Okay, stopped."),
    (re.compile(r"\b(?:volume|louder|quieter)\b"), "Okay, volume changed."),
    (re.compile(r"\b(?:add|put|remove|delete|list|calendar|schedule|meeting|event)\b"), "Okay, noted."),
    (re.compile(r"\b(?:send|email|tweet|post|call|text|message)\b"), "Okay, I'll do that."),
    (re.compile(r"\b(?:coffee|vacuum|clean|socket|plug)\b"), "Okay, starting."),
)


def answer(text: str, context: Context) -> str | None:
    """An acknowledgement of a command, or None."""
    for pattern, reply in _COMMANDS:
        if pattern.search(text):
            return reply
    return None
