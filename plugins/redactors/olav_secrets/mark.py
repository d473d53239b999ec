"""The mark that stands where a secret was: `<redacted:KIND:HASH>`."""

from __future__ import annotations

import re
from hashlib import blake2b

from olav_secrets.key_file import hash_key

#: 16 bits: equal secrets look equal, and even a thief of the key cannot tell a guess from a chance hit
#: (one in 65,536 words of any list fits).
HASH_BYTES = 2

#: What this plug-in writes, and the form without a hash that people write by hand.
MARK = re.compile(r"<redacted:[a-z0-9_]{1,40}(?::[0-9a-f]{4})?>")


def mark(kind: str, secret: str) -> str:
    """Return the mark of this secret. The hash is over the secret alone, so kinds compare with each other."""
    digest = blake2b(secret.encode("utf-8", "surrogatepass"), key=hash_key(), digest_size=HASH_BYTES)
    return f"<redacted:{kind}:{digest.hexdigest()}>"
