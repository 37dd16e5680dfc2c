"""The papers' studies as libraries: they compute, the commands of `proxid study` draw and print (DESIGN 13-15)."""
