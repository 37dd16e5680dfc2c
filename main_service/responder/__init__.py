"""Responders (DESIGN 5.5): built-in skills answer offline, then an upstream may be asked, once a session."""

from main_service.responder.answering import Answering
from main_service.responder.base import Context, Outcome, Reply, Responder
from main_service.responder.skills import BuiltInSkills
from main_service.responder.upstream import Upstream

__all__ = ["Answering", "BuiltInSkills", "Context", "Outcome", "Reply", "Responder", "Upstream"]
