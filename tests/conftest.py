"""Settings of all tests: Hypothesis draws the same examples every time, and takes as long as a busy machine needs."""

from hypothesis import settings

settings.register_profile("proxid", derandomize=True, deadline=None)
settings.load_profile("proxid")
