"""Writes tests/vectors/sansig_suite1.json: `python -m tests.support.golden > tests/vectors/sansig_suite1.json`.

The file pins every encoding, input and signature of suite 1 for the fixed cast of `scene`, for other
implementations and against accidental change. It is written once; a change of it is a change of the protocol.
"""

import json
import sys
from typing import Any

from proxid.crypto.sansig import Role
from tests.support import scene


def golden() -> dict[str, Any]:
    """The vectors, hex but for names."""
    signed, sanitized = scene.request(), scene.sanitized()
    cast = {name: getattr(scene, name.upper()) for name in ("authority", "screener", "service", "user", "device")}
    return {
        "source": "made by tests/support/golden.py",
        "licence": "Apache-2.0",
        "keys": {name: {"seed": key.seed.hex(), "public": key.public.hex()} for name, key in cast.items()},
        "service": scene.MS,
        "epoch": scene.EPOCH,
        "user_id": scene.USER_ID,
        "prox_id": scene.PROX_ID,
        "header": signed.header.encode().hex(),
        "blocks": [block.hex() for block in signed.message.blocks],
        "fixed_input": signed.message.fixed_input.hex(),
        "full_input_sig": signed.message.full_input(Role.SIGNER, signed.fixed).hex(),
        "full_input_san": sanitized.message.full_input(Role.SANITIZER, signed.fixed).hex(),
        "signature_sig": signed.signature.hex(),
        "signature_san": sanitized.signature.hex(),
        "session_id": signed.session_id.hex(),
        "enrolment": scene.enrolment().encode().hex(),
        "link": scene.link().encode().hex(),
        "credential": scene.credential(evidence=False).encode().hex(),
    }


if __name__ == "__main__":
    json.dump(golden(), sys.stdout, indent=1)
    sys.stdout.write("\n")
