"""`fastlsh completion`: what shells complete."""

import shutil
import subprocess

import pytest

from fastlsh.cli.command import parser

CASES = [
    ([""], "pairs dedup index tune evaluate explain completion"),
    (["d"], "dedup"),
    (["--v"], "--version"),
    (["index", ""], "build add query remove info"),
    (["index", "qu"], "query"),
    (["index", "query", "seen.index", "--li"], "--limit"),
    (["dedup", "--ke"], "--keep --key-file --keep-work"),
    (["dedup", "--keep", ""], "first last longest"),
    (["dedup", "in.jsonl", "--by", "p"], "paragraph"),
    (["dedup", "in.jsonl", "-o", ""], ""),
    (["dedup", "in"], ""),
    (["completion", ""], "bash zsh fish"),
]


@pytest.fixture
def script(run):
    status, out, err = run("completion", "bash")
    assert (status, err) == (0, [])
    return out


@pytest.mark.skipif(shutil.which("bash") is None, reason="no bash here")
def test_bash_completes(script):
    lines = [script]
    for words, _ in CASES:
        quoted = " ".join(f"'{word}'" for word in ["fastlsh", *words])
        lines += [f"COMP_WORDS=({quoted}); COMP_CWORD={len(words)}; _fastlsh"]
        lines += ['echo "${COMPREPLY[*]}"']
    lines += ["complete -p fastlsh"]
    done = subprocess.run(
        ["bash", "--norc", "-eu"],
        input="\n".join(lines),
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr == ""
    *found, registered = done.stdout.splitlines()
    assert found == [expected for _, expected in CASES]
    assert "-F _fastlsh fastlsh" in registered


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_take_the_script(run, shell):
    if shutil.which(shell) is None:
        pytest.skip(f"no {shell} here: install it")
    _, out, _ = run("completion", shell)
    subprocess.run([shell, "-n"], input=out, text=True, check=True)


@pytest.mark.skipif(shutil.which("zsh") is None, reason="no zsh here: install it")
def test_zsh_completes(run, tmp_path):
    _, script, _ = run("completion", "zsh")
    lines = [f"autoload -U compinit; compinit -u -d {tmp_path}/dump", script]
    lines += ["print $_comps[fastlsh]", "emulate sh; setopt kshglob"]  # as bashcompinit calls it
    for words, _ in CASES:
        quoted = " ".join(f"'{word}'" for word in ["fastlsh", *words])
        lines += [f"COMP_WORDS=({quoted}); COMP_CWORD={len(words)}; _fastlsh"]
        lines += ['echo "${COMPREPLY[*]}"']
    done = subprocess.run(
        ["zsh", "-f"], input="\n".join(lines), capture_output=True, text=True, check=True
    )
    registered, *found = done.stdout.splitlines()
    assert "-F _fastlsh" in registered
    for (words, expected), line in zip(CASES, found, strict=True):  # zsh itself looks for prefixes
        assert [w for w in line.split() if w.startswith(words[-1])] == expected.split()


@pytest.mark.skipif(shutil.which("fish") is None, reason="no fish here: install it")
def test_fish_completes(run, tmp_path):
    _, script, _ = run("completion", "fish")
    (tmp_path / "fastlsh.fish").write_text(script)
    asked = "; ".join(f"complete -C 'fastlsh {' '.join(words)}'; echo" for words, _ in CASES[6:8])
    done = subprocess.run(
        ["fish", "--no-config", "-c", f"source {tmp_path}/fastlsh.fish; {asked}"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    found = [{line.split("\t")[0] for line in part.split("\n")} for part in
             done.stdout.strip().split("\n\n")]  # fmt: skip
    assert found == [set(expected.split()) for _, expected in CASES[6:8]]


def test_fish_is_told_of_every_option(run):
    _, out, _ = run("completion", "fish")
    dedup = [line for line in out.splitlines() if "from dedup;" in line]
    (commands,) = (action for action in parser()._actions if hasattr(action, "_choices_actions"))
    options = commands.choices["dedup"]._option_string_actions
    for option in options:
        assert any(f" -l {option[2:]} " in f"{line} " for line in dedup) or option[1] != "-"
    assert any("-x -a 'line paragraph'" in line for line in dedup)
    assert any("'show program\\'s version number and exit'" in line for line in out.splitlines())
