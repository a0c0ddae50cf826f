"""What a killed process has left beside outputs: completed if that was decided, or removed.

A journal may have come with an archive or a clone. So it is obeyed only for files in its own
folder, with names of its own run, of this user, and with the identity that it has recorded; and
all of a run, or nothing. Everything else is left alone, and a warning names it.
"""

import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any

from fastlsh.errors import InputError, warn_caller
from fastlsh.io.filesystems import is_remote
from fastlsh.io.journal import (
    JOURNAL,
    TEMPORARY,
    JournalPart,
    Refused,
    checked_folder,
    inode_of,
    inside,
    journal_path,
    lock_journal,
    parsed,
    read_journal,
    remove_journals,
    synchronise_all,
    temporaries,
)
from fastlsh.io.same_file import is_written_in_place

Verdict = Callable[[str, str], "bool | None"]
"""Whether an index (its name) has decided that a run's files appear; None: unknown."""
_NAMED = 3
_DAMAGED = (KeyError, TypeError, ValueError, AttributeError)


def recover_outputs(paths: Iterable[str | os.PathLike[str] | None]) -> None:
    """Complete, or undo, what a run that was killed was about to put where outputs will be.

    Parameters
    ----------
    paths : iterable of path or None
        All outputs; those that are not files of this machine are passed over.

    Raises
    ------
    InputError
        If an output that is complete cannot be renamed.
    """
    local = {os.fspath(path) for path in paths if path is not None}
    local = {path for path in local if not (is_remote(path) or is_written_in_place(path))}
    folders = {os.path.dirname(os.path.abspath(path)) for path in local}
    folders |= {os.path.dirname(os.path.realpath(path)) for path in local if os.path.islink(path)}
    recover(map(os.path.realpath, folders))


def recover(
    folders: Iterable[str], verdict: Verdict = lambda index, run: None, *, own: bool = False
) -> None:
    """Complete, or undo, what processes that were killed were about to put into some folders.

    Whatever was done to a target since then stays as it is. `verdict` says what an index knows.
    `own`: the files are those of this process, whose error says why they are removed.

    Raises
    ------
    InputError
        If a file that is complete cannot be renamed.
    """
    refused = []
    for folder in sorted(set(folders)):
        for run in _runs(folder):
            try:
                _recover(folder, run, verdict, own)
            except Refused as error:  # noqa: PERF203
                refused.append(f"{journal_path(folder, run)} ({error})")
            except InputError:
                raise
            except _DAMAGED:
                refused.append(f"{journal_path(folder, run)} (it is damaged)")
    if refused:
        more = f" and {len(refused) - _NAMED} more" if len(refused) > _NAMED else ""
        warn_caller(f"left alone: {', '.join(refused[:_NAMED])}{more}", UserWarning)


def _runs(folder: str) -> list[str]:
    try:
        with os.scandir(folder) as entries:
            matches = [JOURNAL.fullmatch(entry.name) for entry in entries]
    except OSError:
        return []
    return sorted(match[1] for match in matches if match)


def _recover(folder: str, run: str, verdict: Verdict, own: bool) -> None:
    part = read_journal(folder, run)
    if part is None:
        return
    lead = folder if part.lead is None else checked_folder(part.lead, folder)
    number = lock_journal(journal_path(lead, run))
    if number is None:
        if os.path.lexists(journal_path(lead, run)):
            return  # its process is at work, or it is somebody else's
        if temporaries(part, run):
            raise Refused(f"there is no journal of this run in {lead}")
        remove_journals(run, {folder: False}, -1)  # it was the last thing to do
        return
    try:
        parts = _parts(lead, run, number)
        if folder not in parts:
            raise Refused(f"the journal of this run in {lead} does not name this folder")
        if _is_decided(parts[lead].entries, run, verdict):
            _complete(parts, run)
        _remove(parts, run, own)
        synchronise_all(parts)
    except BaseException:
        os.close(number)
        raise
    remove_journals(run, {part.folder: part.made for part in parts.values()}, number)


def _is_decided(entries: list[dict[str, Any]], run: str, verdict: Verdict) -> bool:
    if any("decided" in entry for entry in entries):
        return True
    index = next((entry["index"] for entry in entries if "index" in entry), None)
    answer = index is not None and verdict(index, run)
    if answer is None:
        raise Refused(f"the next command with the index {index} completes or removes its files")
    return answer


def _parts(lead: str, run: str, number: int) -> dict[str, JournalPart]:
    """Return the journals of a run by folder, the lead first, which is open."""
    first = parsed(lead, number)
    if first.lead is not None:
        raise Refused(f"the journal of this run in {lead} does not lead")
    parts = {lead: first}
    for entry in first.entries:
        if "folder" in entry:
            folder = checked_folder(entry["folder"], lead)
            part = read_journal(folder, run)  # None: it has been removed, or was not made yet
            if part is not None and part.entries and part.lead != lead:
                raise Refused(f"the journal of this run in {folder} does not name this folder")
            if part is not None:
                parts[folder] = part
    return parts


def _complete(parts: dict[str, JournalPart], run: str) -> None:
    """Rename and remove what was decided, unless a target has changed; check everything first."""
    moves, absent, changed = [], [], False
    for part in parts.values():
        names = temporaries(part, run)
        for entry in part.entries:
            for index, written, target, recorded, before in entry.get("files", ()):
                temporary, path = (inside(part, name) for name in (written, target))
                if not (match := TEMPORARY.fullmatch(written)) or match[1] != run:
                    raise Refused(f"{written!r} is no temporary file of this run")
                if written in names:
                    if recorded != inode_of(temporary):
                        raise Refused(f"{written} is not the file that the journal has recorded")
                    moves.append((int(index), temporary, path))
                    changed |= before != inode_of(path)
                elif os.path.lexists(temporary):
                    raise Refused(f"{written} is no file that this run can have made")
            for name, recorded in entry.get("absent", ()):
                absent.append((inside(part, name), recorded))
    if changed:
        return
    moves.sort()
    for _, temporary, path in moves:
        try:
            os.replace(temporary, path)
        except OSError as error:  # noqa: PERF203
            raise InputError(
                path,
                f"is complete since a run that was killed, and cannot be renamed: {error.strerror}",
            ) from error
    for path, recorded in absent:
        if recorded is not None and recorded == inode_of(path):
            with suppress(OSError):
                os.unlink(path)
    if moves:
        shown = ", ".join(path for _, _, path in moves[:_NAMED])
        more = f" and {len(moves) - _NAMED} more" if len(moves) > _NAMED else ""
        warn_caller(f"completed the outputs of a run that was killed: {shown}{more}", UserWarning)


def _remove(parts: dict[str, JournalPart], run: str, own: bool) -> None:
    removed = 0
    for part in parts.values():
        for name in temporaries(part, run):
            with suppress(OSError):
                os.unlink(os.path.join(part.folder, name))
                removed += 1
    if removed and not own:
        warn_caller(f"removed temporary files of a run that was killed: {removed}", UserWarning)
