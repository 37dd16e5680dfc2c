"""Published vectors.

Merkle trees: the reference tests of Certificate Transparency (RFC 6962), eight entries, roots and proofs.
Signed notes: the example of the `note` package of Go's sumdb (golang.org/x/mod), whose format C2SP adopted.
"""

import base64

import pytest

from proxid.errors import NoteInvalidError
from proxid.evidence import merkle
from proxid.evidence.note import Note, Verifier

ENTRIES = [bytes.fromhex(h) for h in (
    "", "00", "10", "2021", "3031", "40414243", "5051525354555657", "606162636465666768696a6b6c6d6e6f",
)]  # fmt: skip
ROOTS = [
    "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
]
INCLUSION = {
    (0, 1): [],
    (0, 8): [
        "96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7",
        "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
        "6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4",
    ],
    (5, 8): [
        "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b",
        "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0",
        "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    ],
    (2, 3): ["fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125"],
}
CONSISTENCY = {
    (1, 1): [],
    (1, 8): [
        "96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7",
        "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
        "6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4",
    ],
    (6, 8): [
        "0ebc5d3437fbe2db158b9f126a1d118e308181031d0a949f8dededebc558ef6a",
        "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0",
        "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    ],
    (2, 5): [
        "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
        "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b",
    ],
}
NOTE_KEY = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW"
NOTE = (
    "If you think cryptography is the answer to your problem,\n"
    "then you don't know what your problem is.\n"
    "\n"
    "\u2014 PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=\n"
).encode()


def test_merkle_roots_of_certificate_transparency():
    frontier = merkle.Frontier()
    assert frontier.root.hex() == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    for entry, root in zip(ENTRIES, ROOTS, strict=True):
        frontier.append(merkle.leaf_hash(entry))
        assert frontier.root.hex() == root


def _node(level, index):
    frontier = merkle.Frontier()
    for entry in ENTRIES[index << level : (index + 1) << level]:
        frontier.append(merkle.leaf_hash(entry))
    return frontier.root


@pytest.mark.parametrize(("index", "size"), INCLUSION)
def test_inclusion_proofs_of_certificate_transparency(index, size):
    proof = [bytes.fromhex(h) for h in INCLUSION[index, size]]
    assert merkle.inclusion_proof(_node, index, size) == proof
    merkle.verify_inclusion(merkle.leaf_hash(ENTRIES[index]), index, size, proof, bytes.fromhex(ROOTS[size - 1]))


@pytest.mark.parametrize(("old", "size"), CONSISTENCY)
def test_consistency_proofs_of_certificate_transparency(old, size):
    proof = [bytes.fromhex(h) for h in CONSISTENCY[old, size]]
    assert merkle.consistency_proof(_node, old, size) == proof
    merkle.verify_consistency(old, bytes.fromhex(ROOTS[old - 1]), size, bytes.fromhex(ROOTS[size - 1]), proof)


def test_the_published_signed_note_verifies_and_re_encodes():
    verifier = Verifier.decode(NOTE_KEY)
    assert verifier.encode() == NOTE_KEY
    note = Note.decode(NOTE)
    assert note.encode() == NOTE
    note.verify(verifier)


@pytest.mark.parametrize("at", range(0, len(NOTE) - 1, 3))
def test_the_published_signed_note_with_a_flipped_byte_does_not(at):
    changed = NOTE[:at] + bytes([NOTE[at] ^ 1]) + NOTE[at + 1 :]
    with pytest.raises(NoteInvalidError):
        Note.decode(changed).verify(Verifier.decode(NOTE_KEY))


def test_a_verifier_key_with_another_id_is_refused():
    name, _, key = NOTE_KEY.split("+", 2)
    with pytest.raises(NoteInvalidError):
        Verifier.decode(f"{name}+00000000+{key}")
    assert base64.b64decode(key)[0] == 1
