"""A synthetic query log like AOL's, from a seed (DESIGN 13): nobody's data.

    for batch in synthesise(Shape(rows=100_000, users=1000, seed=1), dictionaries):
        ...

What it is made like: 002 Table 4.4 (nodes of the category tree by level), AOL's rate (4.58 records a second), and of
a published sample of 1,000 users with 318,023 records their median (294) and the share of distinct queries that one
user alone asked (95.9 %). What is guessed is said where it is set. None of it comes from a person.
"""

from proxid.lab.logs.synth.shape import Shape
from proxid.lab.logs.synth.stream import synth_log, synthesise

__all__ = ["Shape", "synth_log", "synthesise"]
