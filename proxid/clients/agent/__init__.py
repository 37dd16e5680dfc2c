"""A household's daemon: it holds the keys, and assistants ask through doors that hold none (DESIGN 5.6).

`people` says who a door speaks for, `asking` is what every door does, `openai_door` and `wyoming_door` are the doors,
`server` runs them, `command` is `proxid agent`.
"""
