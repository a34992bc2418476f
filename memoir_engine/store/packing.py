"""Bytes of checkpoints as they are kept: framed, and deflated with the words that all of them share.

Invariant: `unpacked(packed(parts)) == parts`, of this version and every earlier one: the first byte says which. The dictionary of
a version never changes, or what was packed with it could not be read.
Half of what LangChain writes of a message is names of its fields; knowing them beforehand takes them out of each row.
Pure bytes: what they mean is the serialiser's affair.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Sequence
from typing import Any

_PLAIN, _DEFLATED = b"\x00", b"\x01"
_LEVEL = 6

# the likelier a word, the nearer to the end
_WORDS = b"".join(
    (
        b"langgraph.checkpoint.serde.types_DeltaSnapshot__interrupt____error____resume____scheduled__Interruptvalue",
        b"langchain_core.messages.functionFunctionMessagelangchain_core.messages.chatChatMessage",
        b"langchain_core.messages.systemSystemMessagelangchain_core.messages.toolToolMessagetool_call_idartifactstatussuccesserror",
        b"model_namefinish_reasonstoptool_callssystem_fingerprinttoken_usageprompt_tokenscompletion_tokenstotal_tokens",
        b"input_token_detailscache_readcache_creationoutput_token_detailsreasoningrefusal",
        b'"l":[["i":]],"t":"msgpack""null""m":{}}',
        b"checkpoint_nsparentsrun_idcounters_since_delta_snapshotsourcesteploopinputforkupdate",
        b"\xa1v\xa2ts\xa2id\xb0channel_versions\xadversions_seen\xb0updated_channels\xaapending_sends",
        b"__input____start__branch:to:modelbranch:to:agentbranch:to:toolsmessages",
        b"langchain_core.messages.aiAIMessage\x8a\xa7content\xb1additional_kwargs\x80\xb1response_metadata\x80",
        b"\xa4type\xa2ai\xa4name\xc0\xa2id\xaatool_calls\x90\xb2invalid_tool_calls\x90\xaeusage_metadata"
        b"\x83\xacinput_tokens\xadoutput_tokens\xactotal_tokens",
        b"langchain_core.messages.humanHumanMessage\x86\xa7content\xb1additional_kwargs\x80\xb1response_metadata\x80",
        b"\xa4type\xa5human\xa4name\xc0\xa2id\xd9$\xb3model_validate_json",
    )
)


def packed(head: Any, parts: Sequence[bytes]) -> bytes:
    """head: JSON. parts: any bytes, told apart again by their lengths."""
    told = json.dumps([head, [len(part) for part in parts]], separators=(",", ":"), ensure_ascii=False).encode()
    plain = b"".join((len(told).to_bytes(4), told, *parts))
    deflate = zlib.compressobj(_LEVEL, zlib.DEFLATED, -15, 8, zdict=_WORDS)
    small = deflate.compress(plain) + deflate.flush()
    return _DEFLATED + small if len(small) < len(plain) else _PLAIN + plain


def unpacked(data: bytes) -> tuple[Any, list[bytes]]:
    plain = raw(data)
    end = 4 + int.from_bytes(plain[:4])
    head, lengths = json.loads(plain[4:end])
    parts = []
    for length in lengths:
        parts.append(plain[end : end + length])
        end += length
    return head, parts


def raw(data: bytes) -> bytes:
    """What was framed, as it is."""
    if data[:1] == _PLAIN:
        return data[1:]
    inflate = zlib.decompressobj(-15, zdict=_WORDS)
    return inflate.decompress(data[1:]) + inflate.flush()
