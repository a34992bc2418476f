"""litellm, imported so that it stays on this machine and says nothing.

Invariant: every use of litellm goes through here, because its switches only work before the first import or call.
Source: measured with litellm 1.83.0: importing it fetches a price list, counting for a model named llama-3 downloads a
tokenizer (23 s without a network), and in its development mode it loads ./.env into the process.
"""

from __future__ import annotations

import os
from functools import cache
from typing import Any


@cache
def quiet_litellm() -> Any:
    """The module. The first call takes seconds; do it off the event loop."""
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    os.environ.setdefault("LITELLM_MODE", "PRODUCTION")
    import litellm

    litellm.disable_hf_tokenizer_download = True
    litellm.suppress_debug_info = True
    return litellm
