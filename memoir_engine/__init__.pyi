"""The public names, in one list; `__init__.py` loads each when it is first used."""

from memoir_engine.agent.client import AgentClient as AgentClient, Replying as Replying
from memoir_engine.api.extractor import MemoryExtractor as MemoryExtractor
from memoir_engine.api.memory import AsyncMemory as AsyncMemory
from memoir_engine.api.sync import Memory as Memory
from memoir_engine.audit.activity_file import safe_cell as safe_cell
from memoir_engine.core.config import ConversationSettings as ConversationSettings, MemoirConfig as MemoirConfig
from memoir_engine.core.errors import *
from memoir_engine.core.events import Event as Event, Stamped as Stamped
from memoir_engine.core.ports import (
    EMBEDDERS as EMBEDDERS,
    Embedder as Embedder,
    Health as Health,
    Near as Near,
    Vectors as Vectors,
)
from memoir_engine.core.results import *
from memoir_engine.core.run import Actor as Actor, Role as Role, RunStatus as RunStatus
from memoir_engine.core.settings import SessionSettings as SessionSettings
from memoir_engine.index.exact import ExactVectors as ExactVectors
from memoir_engine.query.strategies import STRATEGIES as STRATEGIES
from memoir_engine.query.tree_view import PastTree as PastTree, TreeAt as TreeAt
from memoir_engine.runtime.chunking import (
    CHUNKERS as CHUNKERS,
    FACT_FRAME_TOKENS as FACT_FRAME_TOKENS,
    TokensEstimated as TokensEstimated,
    chunk_conversation as chunk_conversation,
    chunk_text as chunk_text,
    compare_token_counts as compare_token_counts,
    count_tokens as count_tokens,
    read_transcript as read_transcript,
    sample_transcript as sample_transcript,
    token_method as token_method,
)
from memoir_engine.runtime.runner import OnEvent as OnEvent
from memoir_engine.samples import (
    SampleConversation as SampleConversation,
    SampleQuestion as SampleQuestion,
    sample_conversations as sample_conversations,
)
from memoir_engine.text.chunks import Piece as Piece
from memoir_engine.text.transcripts import Utterance as Utterance
