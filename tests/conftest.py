"""Settings of all tests: Hypothesis draws the same examples every time, and takes as long as a busy machine needs."""

from importlib.util import find_spec

from hypothesis import settings

# What speaks to programs of others is collected where they are installed; `make test-peers` installs them, and fails
# if it collects nothing.
collect_ignore = [] if all(find_spec(name) for name in ("openai", "playwright")) else ["peers"]

settings.register_profile("proxid", derandomize=True, deadline=None)
settings.register_profile("quick", settings.get_profile("proxid"), max_examples=20)  # `make test-quick`
settings.load_profile("proxid")
