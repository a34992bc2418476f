"""Nothing in the product needs a shell, make, or what only POSIX systems have: it is asked for first, and done without.

Read in the source, for the systems that the suite does not run on.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import modules

POSIX_MODULES = {"fcntl", "pwd", "grp", "resource", "termios", "tty", "pty", "posix", "syslog"}
POSIX_NAMES = {
    "os": {
        *("fork", "forkpty", "getuid", "geteuid", "getgid", "setuid", "setsid", "killpg", "getpgid", "pread", "pwrite", "mkfifo"),
        *("sysconf", "uname", "getloadavg", "chown", "fchmod", "fchown", "sched_getaffinity", "register_at_fork", "nice", "wait"),
    },
    "signal": {
        "SIGKILL",
        "SIGXCPU",
        "SIGHUP",
        "SIGUSR1",
        "SIGUSR2",
        "SIGALRM",
        "SIGCHLD",
        "SIGPIPE",
        "SIGQUIT",
        "alarm",
        "setitimer",
    },
    "socket": {"AF_UNIX", "socketpair"},
}
SHELLS = {"bash", "sh", "zsh", "make", "/bin/sh", "/bin/bash"}


def files() -> list[Path]:
    return [*modules.python_files(modules.PACKAGE, modules.OFFLINE, "ui", "pages"), modules.REPOSITORY / "app.py"]


def needs(tree: ast.AST) -> Iterator[str]:
    """Yield what only some systems have, unless it is asked for in a `try` or below an `if` over the system or the name."""
    guarded = {id(inner) for node in ast.walk(tree) if _is_guard(node) for inner in ast.walk(node)}
    for node in ast.walk(tree):
        if id(node) in guarded:
            continue
        if isinstance(node, ast.Import):
            yield from (f"import {name.name}" for name in node.names if name.name in POSIX_MODULES)
        elif isinstance(node, ast.ImportFrom) and node.module in POSIX_MODULES:
            yield f"from {node.module}"
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            if node.attr in POSIX_NAMES.get(node.value.id, ()):
                yield f"{node.value.id}.{node.attr}"
        elif isinstance(node, ast.Call) and (_starts_a_shell(node) or _guesses_the_encoding(node)):
            yield ast.unparse(node)


def _is_guard(node: ast.AST) -> bool:
    if isinstance(node, ast.Try):
        caught = [ast.unparse(one.type) for one in node.handlers if one.type is not None]
        return any("ImportError" in name or "AttributeError" in name for name in caught)
    return isinstance(node, ast.If) and any(word in ast.unparse(node.test) for word in ("sys.platform", "os.name", "hasattr("))


def _starts_a_shell(call: ast.Call) -> bool:
    if any(one.arg == "shell" and getattr(one.value, "value", None) is True for one in call.keywords):
        return True
    if not ast.unparse(call.func).startswith(("subprocess.", "os.system", "os.popen")):
        return False
    first = call.args[0] if call.args else None
    words = first.elts[:1] if isinstance(first, ast.List | ast.Tuple) else [first]
    return any(isinstance(word, ast.Constant) and str(word.value).split(" ")[0] in SHELLS for word in words)


def _guesses_the_encoding(call: ast.Call) -> bool:
    """Report whether a text file is read or written in the encoding of the system, which is not UTF-8 everywhere."""
    named = any(one.arg in ("encoding", None) for one in call.keywords)
    if isinstance(call.func, ast.Attribute) and call.func.attr in ("read_text", "write_text"):
        return not named and len(call.args) == (call.func.attr == "write_text")
    is_open = isinstance(call.func, ast.Name) and call.func.id == "open"
    mode = ast.unparse(call.args[1]) if len(call.args) > 1 else "r"
    return is_open and not named and "b" not in mode


def test_the_product_needs_nothing_that_only_some_systems_have():
    found = {
        f"{path.relative_to(modules.REPOSITORY)}: {need}"
        for path in files()
        for need in needs(ast.parse(path.read_text(encoding="utf-8")))
    }
    assert found == set()


@pytest.mark.parametrize(
    "source",
    [
        *(
            "import fcntl",
            "os.kill(1, signal.SIGKILL)",
            "subprocess.run(['bash', '-c', 'ls'])",
            "subprocess.run('ls', shell=True)",
        ),
        *("path.read_text()", "path.write_text('é')", "open(name)"),
    ],
)
def test_what_only_some_systems_have_is_seen(source: str):
    assert list(needs(ast.parse(source)))
