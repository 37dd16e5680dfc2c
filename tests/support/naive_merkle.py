"""A second implementation of RFC 6962 §2.1, word by word from its recursive definitions: slow and obvious."""

import hashlib


def mth(entries):
    if not entries:
        return hashlib.sha256(b"").digest()
    if len(entries) == 1:
        return hashlib.sha256(b"\x00" + entries[0]).digest()
    k = split(len(entries))
    return hashlib.sha256(b"\x01" + mth(entries[:k]) + mth(entries[k:])).digest()


def split(n):
    k = 1
    while 2 * k < n:
        k *= 2
    return k


def path(m, entries):
    if len(entries) == 1:
        return []
    k = split(len(entries))
    if m < k:
        return [*path(m, entries[:k]), mth(entries[k:])]
    return [*path(m - k, entries[k:]), mth(entries[:k])]


def proof(m, entries):
    return subproof(m, entries, True)


def subproof(m, entries, whole):
    n = len(entries)
    if m == n:
        return [] if whole else [mth(entries)]
    k = split(n)
    if m <= k:
        return [*subproof(m, entries[:k], whole), mth(entries[k:])]
    return [*subproof(m - k, entries[k:], False), mth(entries[:k])]
