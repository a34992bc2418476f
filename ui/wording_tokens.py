"""Texts of tokens: what lets programs in, for whom, and how it is taken back."""

from __future__ import annotations

from ui.words import Words


class Tokens(Words):
    TITLE = "Tokens for programs"
    ABOUT = (
        "A token lets a program or an agent in, by HTTP or MCP, with the roles and the user that it is given. What it is told "
        "is recorded."
    )
    NONE = "No program has a token yet."
    MAKE = "Make a token"
    NAME = "Name"
    NAME_HINT = "Ana’s desk"
    NAME_HELP = "Who or what will carry it; its actions are recorded under “token” and this name."
    ROLES = "Roles"
    USER = "For the user"
    USER_HELP = "Whose facts, conversations and runs it reads and writes. Left empty, it acts for no user."
    UNTIL = "Valid until the end of (UTC)"
    UNTIL_HELP = "Left empty, it is valid until it is revoked."
    GO = "Make"
    MADE = "This is the token “{name}”. Copy it now: it is shown this once, and Memoir keeps only its digest."
    COPIED = "I have it"
    OF_USER = "for {user}"
    OF_NOBODY = "for no user"
    BY = "made by {who} {when}"
    EXPIRES = "valid until {when}"
    STATES = {"valid": "valid", "expired": "expired", "revoked": "revoked"}
    REVOKE = "Revoke"
    REVOKE_ABOUT = "From its next request on “{name}” opens nothing. There is no undo."
    REVOKE_GO = "Revoke for good"
    LEFT_OUT = "The newest {count} are shown."


texts = Tokens()
