"""Time that passes for the machines of the stores, too: what has a time to live ends, as while services are away."""

from proxid.runtime.store import connect
from tests.support.trial import Trial


async def age(trial: Trial, seconds: float) -> None:
    """For everybody."""
    for clock in trial.clocks.values():
        clock.passed += seconds
    for role in trial.stores:
        store = connect(trial.url(role))
        async for name in store.scan_iter("*"):
            left = await store.pttl(name)
            if 0 < left <= 1000 * seconds:
                await store.unlink(name)
            elif left > 0:
                await store.pexpire(name, int(left - 1000 * seconds))
        await store.aclose()
