"""Texts about the viewer: their identity, their permissions, and why something is not permitted."""

from __future__ import annotations

from ui.words import Words


class Viewer(Words):
    WHO = "Who is reviewing?"
    WHO_ABOUT = "Every change is kept under a name. It is asked once, and stays for as long as this tab is open."
    NAME = "Your name"
    THAT_IS_ME = "That is me"
    SAY_WHO = "Say who you are"
    ANOTHER = "Somebody else"
    SIGN_IN, SIGN_OUT = "Sign in", "Sign out"
    SIGN_IN_WITH = "Sign in with {provider}"
    SIGN_IN_TITLE = "Memoir"
    SIGN_IN_ABOUT = "This memory is open to people who sign in. What you change is kept under your name."
    SIGN_IN_FAILED = "Signing in is not set up as it should be"
    SIGN_IN_REMEDY = "Look at [auth] in .streamlit/secrets.toml; the log of the app says what is wrong."
    NAMELESS = "Whoever you signed in with says neither your e-mail nor who you are"
    NAMELESS_REMEDY = "Sign out and in again, or ask for the scopes openid and email."
    NEEDS_ROLE = "You can look, but not change this: it needs the role {role}. {given} Ask whoever runs this app."
    AND = " and "
    GIVEN_ROLES = "You are {roles}."
    ANOTHERS = "{name} has begun this. To stop it or go on with it takes the role auditor."
    NOT_ALLOWED = (
        "Say who you are at the foot of the sidebar; if you are signed in, ask whoever runs this app for the role {role}."
    )


texts = Viewer()
