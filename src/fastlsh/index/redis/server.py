"""The Redis server of an index, and the scripts that it runs."""

import errno
import secrets
import threading
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any
from urllib.parse import urlsplit

from fastlsh.errors import InputError
from fastlsh.index.store import BusyError
from fastlsh.parallel import ending_ignored

FEW = 100
"""Documents that the answer to one question has at most, besides the buckets that it asks for."""

LARGE = 4096
"""Bytes: a bucket that takes more is a key of its own, to which numbers can be appended."""

# KEYS: parameters, state, documents, ids. ARGV: the parameters. Returns 1 if there was no index, 0
# if there is one, -1 if there is one without its parameters.
CREATE = """
if redis.call('EXISTS', KEYS[1]) == 1 then return 0 end
if redis.call('EXISTS', KEYS[2], KEYS[3], KEYS[4]) > 0 then return -1 end
redis.call('SET', KEYS[1], ARGV[1])
redis.call('HSET', KEYS[2], 'next', 0, 'documents', 0, 'buckets', 0, 'changes', 0)
return 1
"""

# KEYS: state, documents, ids, buckets, counts. Returns the state, and how many fields the others
# have. An index that has counted nothing has no field `counts`.
LOOK = """
local found = redis.call('HMGET', KEYS[1], 'next', 'changes', 'documents', 'buckets', 'counts')
if found[1] and not found[5] then found[5] = '0' end
for i = 2, 5 do found[i + 4] = redis.call('HLEN', KEYS[i]) end
return found
"""
LOOKED = 9
"""Values of the state."""

# KEYS: as for LOOK, and a hash. ARGV: its fields. Returns what LOOK returns, and the values.
FIELDS = LOOK.replace(
    "return found",
    """
local values = {}
for first = 1, #ARGV, 1000 do
    local part = redis.call('HMGET', KEYS[6], unpack(ARGV, first, math.min(first + 999, #ARGV)))
    for i = 1, #part do values[first + i - 1] = part[i] end
end
found[10] = values
return found
""",
)

# KEYS, ARGV: as for FIELDS, with the hash of the buckets. Returns also the numbers in the buckets
# and the documents with these numbers, if they are few.
QUESTION = FIELDS.replace(
    "found[10] = values",
    f"""
found[10] = values
local numbers, known = {{}}, {{}}
for i = 1, #values do
    for j = 1, #(values[i] or '') - 7, 8 do
        local number = string.format('%.0f', struct.unpack('<I8', values[i], j))
        if not known[number] and #numbers <= {FEW} then
            numbers[#numbers + 1], known[number] = number, true
        end
    end
end
if #numbers > 0 and #numbers <= {FEW} then
    found[11], found[12] = numbers, redis.call('HMGET', KEYS[2], unpack(numbers))
end
""",
)

# KEYS: as for LOOK, and the lock. ARGV: the value of the lock for this writer, and for how many
# milliseconds it is to be valid. Returns nothing if another writer has it, else what LOOK returns.
LOCK = (
    """
if not redis.call('SET', KEYS[6], ARGV[1], 'NX', 'PX', ARGV[2])
    and redis.call('GET', KEYS[6]) ~= ARGV[1] then return nil end
"""
    + LOOK
)

# KEYS: state, buckets, what the names of large buckets begin with. ARGV: the names of the buckets
# that numbers are added to or removed from, one for each number and in order; bytes of a name; the
# numbers, 8 bytes each; LARGE. A large bucket that is lost stays so, for readers to notice.
_CHANGE = """
local width, large = tonumber(ARGV[2]), tonumber(ARGV[4])
local sub, all, given = string.sub, ARGV[1], ARGV[3]
local names, starts, count, latest = {}, {}, 0, nil
for i = 1, #all, width do
  local name = sub(all, i, i + width - 1)
  if name ~= latest then
    count = count + 1
    names[count], starts[count], latest = name, (i - 1) / width * 8 + 1, name
  end
end
starts[count + 1] = #given + 1
for first = 1, count, 1000 do
  local last = math.min(first + 999, count)
  local held = redis.call('HMGET', KEYS[2], unpack(names, first, last))
  local fields, n = {}, 0
  for i = first, last do
    local name, old = names[i], held[i - first + 1]
    local numbers = sub(given, starts[i], starts[i + 1] - 1)
    %s
  end
  if n > 0 then
    local made = redis.call('HSET', KEYS[2], unpack(fields))
    if made > 0 then redis.call('HINCRBY', KEYS[1], 'buckets', made) end
  end
end
"""
ADD = (
    _CHANGE
    % """
    if old == '' then
      local key = KEYS[3] .. name
      if redis.call('STRLEN', key) > large then redis.call('APPEND', key, numbers) end
    else
      if old then numbers = old .. numbers end
      if #numbers > large then
        redis.call('SET', KEYS[3] .. name, numbers)
        numbers = ''
      end
      fields[n + 1], fields[n + 2], n = name, numbers, n + 2
    end
"""
)
DROP = (
    _CHANGE
    % """
    local key, gone, left = KEYS[3] .. name, {}, {}
    for j = 1, #numbers, 8 do gone[sub(numbers, j, j + 7)] = true end
    local present = old
    if old == '' then present = redis.call('GET', key) end
    for j = 1, #(present or ''), 8 do
      local number = sub(present, j, j + 7)
      if not gone[number] then left[#left + 1] = number end
    end
    if not present then
    elseif 8 * #left > large then
      redis.call('SET', key, table.concat(left))
    else
      if old == '' then redis.call('DEL', key) end
      if #left > 0 then
        fields[n + 1], fields[n + 2], n = name, table.concat(left), n + 2
      elseif redis.call('HDEL', KEYS[2], name) == 1 then
        redis.call('HINCRBY', KEYS[1], 'buckets', -1)
      end
    end
"""
)

# KEYS: state, counts. Notes how many documents have counts.
COUNTED = """
redis.call('HSET', KEYS[1], 'counts', redis.call('HLEN', KEYS[2]))
"""

# KEYS: the sources of a document. ARGV: sources. Returns how many it has, and those of the given
# ones that it has; without any, all that it has.
SOURCES = """
local found = {redis.call('SCARD', KEYS[1])}
local given = #ARGV > 0 and ARGV or redis.call('SMEMBERS', KEYS[1])
for i = 1, #given do
    if redis.call('SISMEMBER', KEYS[1], given[i]) == 1 then found[#found + 1] = given[i] end
end
return found
"""

# KEYS: state, lock. Returns what a transaction depends on.
CHECK = """
local found = redis.call('HMGET', KEYS[1], 'next', 'changes', 'outputs')
found[4] = redis.call('GET', KEYS[2])
return found
"""

# KEYS: state. ARGV: the token of a transaction whose answer did not arrive. Returns whether it was
# made. If it was not, it never will be: it watches the state, which is changed here.
SETTLE = """
if redis.call('HGET', KEYS[1], 'writer') == ARGV[1] then return 1 end
local there = redis.call('EXISTS', KEYS[1])
redis.call('HSET', KEYS[1], 'writer', '')
if there == 0 then redis.call('DEL', KEYS[1]) end
return 0
"""

# KEYS: the lock. ARGV: its value for this writer, and for how many milliseconds it is to be valid.
RENEW = """
if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
"""
UNLOCK = """
if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) end
"""

# KEYS: documents. ARGV: two numbers. Returns the numbers from the first to below the second that
# have a document.
NUMBERS = """
local found = {}
for number = ARGV[1], ARGV[2] - 1 do
    if redis.call('HEXISTS', KEYS[1], string.format('%d', number)) == 1 then
        found[#found + 1] = number
    end
end
return found
"""


SCHEMES = ("redis", "rediss", "unix")
LOCKED = 60_000
"""Milliseconds after which a lock expires if its writer, which has ended, does not renew it."""

TOGETHER = 10_000
"""Keys, fields or documents in one command, and entries in one call of a script."""

CONNECTED = 10.0
"""Seconds to wait for a connection."""
TIMEOUT = 30.0
"""Least number of seconds to wait for an answer."""
TIMEOUT_OF_ONE = 0.001
"""Further seconds for each document of a large change; measured: 0.00003."""
REFUSALS = (
    ("maxmemory", errno.ENOSPC, "the memory of the server is full (maxmemory)"),
    ("read only replica", errno.EROFS, "the server is a read-only replica"),
    ("MISCONF", errno.EIO, "the server accepts no changes, because it could not save its data"),
    ("BUSY", errno.EBUSY, "the server is busy with a script; try again"),
)
"""Parts of what a server says when it refuses a command, and the errors to raise."""


_inherited: list[Any] = []
"""Clients of the parent process: to end one, a lock would be needed that a thread may have held."""


def is_address(location: str) -> bool:
    """Whether this is the URL of a Redis server, and not a path."""
    return location.partition("://")[0] in SCHEMES and "://" in location


def address_of(location: str) -> str:
    """Return a location without its password and the number of the database."""
    url, _, name = location.partition("#")
    try:
        parts = urlsplit(url)
        host = f"{parts.hostname or 'localhost'}:{parts.port or 6379}"
        where = parts.path if parts.scheme == "unix" else host
    except ValueError:  # the message may quote the password
        raise ValueError(
            "the address of a Redis server must be redis://host:port/db#name with a number as its "
            "port; in a password, write / as %2F, @ as %40 and # as %23"
        ) from None
    return f"{parts.scheme}://{where}#{name or 'index'}"


class Server:
    """A server and an index on it: ``redis://host:port/db#name``.

    Parameters
    ----------
    location
        The address; without a name, the index is named "index".
    wait
        Seconds to wait for another writer.
    """

    def __init__(self, location: str, wait: float) -> None:
        try:
            import redis
            from redis.backoff import ExponentialBackoff
            from redis.retry import Retry
        except ImportError as error:
            reason = "an index on a server needs the package redis: pip install redis"
            raise InputError(address_of(location), reason) from error
        self.location = location
        url, _, name = location.partition("#")
        self.address = address_of(location)
        self.wait = wait
        self.library: Any = redis
        self._url = url
        self._retry = Retry(ExponentialBackoff(cap=0.5, base=0.05), 3, (redis.ConnectionError,))
        self.begin()
        self.prefix = f"fastlsh:{{{name or 'index'}}}:".encode()

    def begin(self) -> None:
        """Begin with a connection to be opened, and without a lock."""
        self._closed = threading.Event()
        self._renewing: threading.Thread | None = None
        self.token: bytes | None = None
        """The value of the lock while this object holds it or tries to get it."""
        self.client: Any = self.connected(0)

    def forked(self) -> None:
        """Forget what belongs to the parent process."""
        _inherited.append(self.client)
        self.begin()

    def key(self, name: str) -> bytes:
        """Return the full name of a key."""
        return self.prefix + name.encode()

    def fields(self, name: str, fields: Iterable[Any]) -> Iterator[bytes | None]:
        """Yield the value of each field of a hash, None where there is none."""
        requested = list(fields)
        for first in range(0, len(requested), TOGETHER):
            yield from self.client.hmget(self.key(name), requested[first : first + TOGETHER])

    def connected(self, documents: int) -> Any:
        """Return a client that waits long enough for the answer to a change of many documents."""
        timeout = TIMEOUT + documents * TIMEOUT_OF_ONE
        try:
            client = self.library.Redis.from_url(
                self._url, socket_connect_timeout=CONNECTED, socket_timeout=timeout,
                retry=self._retry,
            )  # fmt: skip
            pool = client.connection_pool
            pool.connection_kwargs["decode_responses"] = False
            pool.make_connection()  # looks at the options
        except (ValueError, TypeError) as error:
            raise ValueError(
                f"{self.address}: an option of the address is wrong: {error}"
            ) from None
        return client

    @contextmanager
    def errors(self) -> Iterator[None]:
        """Raise the errors of the library as errors that name the address."""
        try:
            yield
        except BaseException as error:
            self.failed(error)
            raise

    def failed(self, error: BaseException) -> None:
        """Replace an error of the library by one that names the address."""
        if not isinstance(error, Exception):  # Ctrl-C: an answer may still arrive
            self.disconnect()
        said = self.library.exceptions
        password = (said.AuthenticationError, said.AuthorizationError)
        silence = (said.ConnectionError, said.TimeoutError)
        refused, changed = "the server does not allow it", "another process has changed the index"
        for kinds, raised, number, reason in (
            (said.NoPermissionError, PermissionError, errno.EACCES, f"{refused}: {error}"),
            (password, PermissionError, errno.EACCES, f"the server asks for a password: {error}"),
            (said.WatchError, TimeoutError, errno.EAGAIN, f"{changed}; try again"),
            (silence, ConnectionError, errno.ECONNREFUSED, f"the server does not answer: {error}"),
            (said.RedisError, OSError, *_refusal(str(error))),
        ):
            if isinstance(error, kinds):
                raise raised(number, reason, self.address) from error

    def disconnect(self) -> None:
        """Close the connections; the next command opens another one."""
        self.client.connection_pool.disconnect()

    def damaged(self, reason: str) -> ValueError:
        """Return the error for an index that has lost keys."""
        return ValueError(
            f"{self.address}: the index is damaged: {reason}; delete its keys, and build it anew"
        )

    def exists(self) -> FileExistsError:
        """Return the error for an index that exists already."""
        return FileExistsError(errno.EEXIST, "there is an index already", self.address)

    def _told(self, ask: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        """Return what the server says about itself; nothing if it does not."""
        said = self.library.exceptions
        try:
            return ask()
        except (said.NoPermissionError, said.ResponseError):
            return {}

    def check_policy(self) -> None:
        """Raise OSError if the server may delete keys of the index when its memory is full."""
        memory = self._told(lambda: self.client.info("memory"))
        policy = str(memory.get("maxmemory_policy", ""))
        if policy.startswith("allkeys") and memory.get("maxmemory"):
            raise OSError(
                errno.EINVAL,
                f"the server has maxmemory-policy {policy}, and would delete parts of the index "
                "when its memory is full: it must be noeviction",
                self.address,
            )

    def check_size(self, size: int) -> None:
        """Raise OSError if the server would not accept a change of so many bytes."""
        name = "client-query-buffer-limit"
        limit = int(self._told(lambda: self.client.config_get(name)).get(name, 0))
        if 0 < limit < size:
            raise OSError(
                errno.EFBIG,
                f"the change takes {size:,} bytes, and the server accepts {limit:,} at a time: "
                f"insert fewer documents at a time, or raise {name} of the server",
                self.address,
            )

    def close(self) -> None:
        """Close the connections, and end the thread that renews the lock."""
        self._closed.set()
        self.client.close()

    def renew(self) -> None:
        """Extend the lock by another period, if this object holds it."""
        token = self.token
        if token is not None:
            with suppress(self.library.exceptions.RedisError, OSError, ValueError):
                self.client.eval(RENEW, 1, self.key("lock"), token, LOCKED)

    def look(self) -> list[bytes | int | None]:
        """Return the state of the index, and how many fields its other keys have."""
        state: list[bytes | int | None] = self.client.eval(LOOK, 5, *self._counted())
        return state

    def ask(self, script: str, name: str, fields: Sequence[Any]) -> list[Any]:
        """Return the state as `look` does, and what `FIELDS` or `QUESTION` say of a hash."""
        answer: list[Any] = self.client.eval(script, 6, *self._counted(), self.key(name), *fields)
        return answer

    def _counted(self) -> list[bytes]:
        return [self.key(name) for name in ("state", "documents", "ids", "buckets", "counts")]

    def lock(self) -> list[bytes | int | None]:
        """Take the lock of the writer, and return the result of `look`; or raise `BusyError`."""
        if self._renewing is None or not self._renewing.is_alive():  # it does not survive a fork
            self._closed = threading.Event()
            self._renewing = threading.Thread(
                target=_renew_regularly, args=(weakref.ref(self), self._closed), daemon=True
            )
            with ending_ignored():  # then the minute of the lock must be enough
                self._renewing.start()
        self.token = token = secrets.token_bytes(16)
        keys = *self._counted(), self.key("lock")
        state: list[bytes | int | None] | None = self.client.eval(LOCK, 6, *keys, token, LOCKED)
        if state is None:
            self.token = None
            raise BusyError(self.wait, self.address)
        return state

    def settle(self, error: Exception) -> None:
        """Find out whether a transaction was made if its answer did not arrive."""
        try:
            self.disconnect()
            made = self.client.eval(SETTLE, 1, self.key("state"), self.token)
        except self.library.exceptions.RedisError:
            raise ConnectionError(
                errno.ECONNRESET,
                f"the connection broke, and it is unknown whether the change was made: {error}",
                self.address,
            ) from error
        if not made:
            raise ConnectionError(
                errno.ECONNRESET, f"the connection broke, and nothing was changed: {error}",
                self.address,
            ) from error  # fmt: skip

    def unlock(self) -> None:
        """Release the lock, if this object holds it; may be called again."""
        if self.token is not None:
            with suppress(self.library.exceptions.RedisError):
                self.client.eval(UNLOCK, 1, self.key("lock"), self.token)
            self.token = None


def _refusal(message: str) -> tuple[int, str]:
    """Return the number and the text of the error for a message of the server or the library."""
    for part, number, reason in REFUSALS:
        if part in message:
            return number, reason
    # The library quotes the command of a transaction, which may be long and binary.
    return errno.EIO, message.rpartition("caused error: ")[2]


def _renew_regularly(reference: "weakref.ref[Server]", closed: threading.Event) -> None:
    while not closed.wait(LOCKED / 3000):
        server = reference()
        if server is None:
            return
        server.renew()
        del server
