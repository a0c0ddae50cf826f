"""The scripts that run on the server. A script sees one state, and nothing else runs meanwhile."""

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

# KEYS: the sources of a document. ARGV: sources. Returns how many it has, and the positions,
# counted from 1, of those that it does not have.
NEW_SOURCES = """
local found = {redis.call('SCARD', KEYS[1])}
for i = 1, #ARGV do
    if redis.call('SISMEMBER', KEYS[1], ARGV[i]) == 0 then found[#found + 1] = i end
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
