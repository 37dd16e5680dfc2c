"""Responders (DESIGN 5.5): plug-ins `answer(utterance, context) -> text`; built-in skills answer offline."""

from main_service.responder.answering import Answering
from main_service.responder.base import Context, Responder
from main_service.responder.skills import BuiltInSkills

__all__ = ["Answering", "BuiltInSkills", "Context", "Responder"]
