"""The release method `kbuffer`: the streaming anonymiser over a log's file (DESIGN 13)."""
