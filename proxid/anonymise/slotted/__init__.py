"""Location queries and commands (DESIGN 8.8, 8.9): groups of one place or shape and one slot, released at its close.

`types` what waits and leaves · `closing` the mechanism, one pure function · `pool` the same in memory ·
`places` H3 cells, sensitive places, planar Laplace · `shown` what a group's records say
"""
