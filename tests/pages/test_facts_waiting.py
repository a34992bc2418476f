"""Changes of facts that wait for a person are named on the Review page, with the way to where they are decided."""

from __future__ import annotations

from app_pages import opened
from memoir_engine import Memory, sample_conversations
from ui import wording_facts as said


def links(page) -> list:
    return [one for one in page.get("page_link") if "decision" in one.proto.label]


def test_the_review_page_leads_to_what_is_to_be_decided_about_facts(memory: Memory):
    assert links(opened("review")) == []
    for talk in sample_conversations():
        memory.remember(talk.messages, user_id=talk.user, session_id=talk.session_id)
    (waiting,) = memory.facts.proposals()
    (link,) = links(opened("review"))
    assert link.proto.label == f"1 {said.TO_DECIDE_ONE}"
    assert (link.proto.page, link.proto.query_string) == ("facts", f"user={waiting.user_id}")
    memory.facts.reject(waiting.id)
    assert links(opened("review")) == []
