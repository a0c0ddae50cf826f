"""`fastlsh completion`: what shells complete."""

import os
import shutil
import subprocess

import pytest

from required import library

CASES = [
    ([""], "pairs dedup overlap decontaminate index tune evaluate explain audit completion"),
    (["d"], "dedup decontaminate"),
    (["--v"], "--version"),
    (["index", ""], "build add query remove export info"),
    (["index", "qu"], "query"),
    (["index", "query", "seen.index", "--li"], "--limit"),
    (["index", "query", "se"], "seen.index"),
    (["dedup", "--ke"], "--keep --key-file --keep-least --keep-work"),
    (["dedup", "--keep", ""], "first last longest"),
    (["dedup", "in.jsonl", "--by", "p"], "paragraph"),
    (["dedup", "in.jsonl", "-o", "i"], "in.jsonl"),
    (["dedup", "--against", "in"], "in.jsonl"),
    (["dedup", "in"], "in.jsonl"),
    (["completion", ""], "bash zsh fish"),
]


@pytest.fixture
def script(run):
    """Return what prints the script of a shell."""
    library("shtab")

    def printed(shell):
        status, out, err = run("completion", shell)
        assert (status, err) == (0, [])
        return out

    return printed


@pytest.fixture
def folder(tmp_path):
    """Make the files that can be completed."""
    for name in ("in.jsonl", "seen.index"):
        (tmp_path / name).touch()
    return tmp_path


@pytest.mark.skipif(shutil.which("bash") is None, reason="no bash here")
def test_bash_completes(script, folder):
    lines = [script("bash"), "complete -p fastlsh"]
    for words, _ in CASES:
        quoted = " ".join(f"'{word}'" for word in ["fastlsh", *words])
        lines += [f"COMP_WORDS=({quoted}); COMP_CWORD={len(words)}; COMPREPLY=()"]
        lines += [f"_shtab_fastlsh fastlsh '{words[-1]}'", 'echo "${COMPREPLY[*]}"']
    done = subprocess.run(
        ["bash", "--norc"], input="\n".join(lines), capture_output=True, text=True, check=True,
        cwd=folder,
    )  # fmt: skip
    assert done.stderr == ""
    registered, *found = done.stdout.splitlines()
    assert "-F _shtab_fastlsh fastlsh" in registered
    assert found == [expected for _, expected in CASES]


@pytest.mark.skipif(shutil.which("zsh") is None, reason="no zsh here: install it")
def test_zsh_takes_the_script(script, tmp_path):
    """Also where the user's own settings have not called `compinit`."""
    (tmp_path / "script").write_text(script("zsh"))
    code = 'eval "$(cat script)"; print $_comps[fastlsh]; whence -w _shtab_fastlsh'
    done = subprocess.run(
        ["zsh", "-f", "-c", code], capture_output=True, text=True, check=True,
        cwd=tmp_path, env={**os.environ, "HOME": str(tmp_path)},
    )  # fmt: skip
    assert done.stdout == "_shtab_fastlsh\n_shtab_fastlsh: function\n"


@pytest.mark.skipif(shutil.which("fish") is None, reason="no fish here: install it")
def test_fish_completes(script, folder):
    (folder / "fastlsh.fish").write_text(script("fish"))
    asked = "; ".join(f'complete -C "fastlsh {" ".join(words)}"; echo' for words, _ in CASES)
    done = subprocess.run(
        ["fish", "--no-config", "-c", f"source fastlsh.fish; {asked}"],
        capture_output=True, text=True, check=True, cwd=folder,
        env={**os.environ, "HOME": str(folder)},
    )  # fmt: skip
    found = [
        {line.split("\t")[0] for line in part.splitlines()}
        for part in done.stdout.rstrip().split("\n\n")
    ]
    assert found == [set(expected.split()) for _, expected in CASES]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_every_option_is_in_the_script(script, shell):
    from fastlsh.cli.command import parser

    text = script(shell)
    (commands,) = (action for action in parser()._actions if hasattr(action, "_choices_actions"))
    for command in commands.choices.values():
        for option in command._option_string_actions:
            name = option.lstrip("-")
            assert f"-l {name} " in text if shell == "fish" and option[:2] == "--" else name in text
