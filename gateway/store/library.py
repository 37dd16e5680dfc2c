"""The Identity Screener's state (DESIGN 5.2, 7, 9, 12): its parts, each with the atomic steps of one subject."""

from gateway.store.consents import ConsentSteps
from gateway.store.feeds import FeedSteps
from gateway.store.links import LinkSteps
from gateway.store.owed import OwedSteps
from gateway.store.requests import RequestSteps


class GatewayStore(LinkSteps, RequestSteps, ConsentSteps, OwedSteps, FeedSteps):
    """All parts but persons' rights, which are `rights.RightsStore`."""
