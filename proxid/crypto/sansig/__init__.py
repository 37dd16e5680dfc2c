"""Sanitizable signatures (DESIGN 4): a signer lets one named sanitizer replace the admissible blocks, within a limit.

Read in this order: `message` (what is signed), `scheme` (KGen, Sign, Sanitize, Verify), `judge` (Proof, Judge),
`limits` (what a new user block may be). Definitions after Ateniese et al. 2005 and Brzuska et al. 2009/2010,
limits after Canard & Jambert 2010.
"""

from proxid.crypto.sansig.judge import judge, prove, verify_proof
from proxid.crypto.sansig.limits import Limit, prox_id, verify_prox_id
from proxid.crypto.sansig.message import Direction, Header, Message, Role, SignedMessage
from proxid.crypto.sansig.scheme import Expectation, keygen, sanitize, sign, verify, verify_public_limit

__all__ = [
    "Direction",
    "Expectation",
    "Header",
    "Limit",
    "Message",
    "Role",
    "SignedMessage",
    "judge",
    "keygen",
    "prove",
    "prox_id",
    "sanitize",
    "sign",
    "verify",
    "verify_proof",
    "verify_prox_id",
    "verify_public_limit",
]
