-- Persons' rights at the Identity Screener (DESIGN 10.3, 11); keys and helpers are common.lua's.

-- Whether a key of a user's was replaced or revoked.
local function is_over(prefix, user, pk)
  return redis.call('SISMEMBER', key(prefix, 'eo', user), pk) == 1
end

-- ARGV: user tag, request, enrolment, pk_U. The tombstone, from which on nothing of the user is taken or delivered (check 3 of
-- 5.2), and the job to erase the rest. Returns the receipt if that is done, '' if it is to be done, nothing if unknown.
local function gw_erase_begin(keys, a)
  local prefix, user = keys[1], a[1]
  local mark = redis.call('GET', key(prefix, 'x', user))
  if mark and mark ~= '1' then return mark end
  -- A name that was enrolled again belongs to who holds the later key.
  local known = redis.call('GET', key(prefix, 'e', user))
  if known and known ~= a[4] or not known and not mark or is_over(prefix, user, a[4]) then return false end
  redis.call('SET', key(prefix, 'x', user), '1')
  if redis.call('SADD', key(prefix, 'jobs'), user) == 1 then
    redis.call('HSET', key(prefix, 'j', user), 'r', a[2], 'e', a[3])
  end
  redis.call('DEL', key(prefix, 'oj', user), key(prefix, 'on', user))
  redis.call('ZREM', key(prefix, 'owed'), 'object|' .. user)
  for _, value in ipairs(redis.call('HVALS', key(prefix, 's', user))) do
    redis.call('ZREM', key(prefix, 'owed'), 'lost|' .. user .. '|' .. string.match(value, '^[^|]+'))
  end
  return ''
end

-- Erasures under way.
local function gw_erase_jobs(keys, a)
  return redis.call('SMEMBERS', key(keys[1], 'jobs'))
end

-- ARGV: user tag: request, enrolment, 1 if ERASED is recorded, the receipt then made; person-epochs; names at parties; those
-- of the PROX_IDs whose keys were lost.
local function gw_erase_job(keys, a)
  local prefix, user = keys[1], a[1]
  return {redis.call('HMGET', key(prefix, 'j', user), 'r', 'e', 'v', 'c'), redis.call('HGETALL', key(prefix, 's', user)),
    redis.call('HGETALL', key(prefix, 'it', user)), lost_of(prefix, user)}
end

-- items: of each notice its id, party, kind, sealed bytes, second from which the party gets it
local function put_notices(prefix, user, items, first)
  local now = redis.call('TIME')[1]
  for i = first, #items, 5 do
    redis.call('HSET', key(prefix, 'nt', items[i]), 'p', items[i + 1], 'k', items[i + 2], 'b', items[i + 3], 't', now)
    redis.call('ZADD', key(prefix, 'no', items[i + 1]), items[i + 4], items[i])
    redis.call('RPUSH', key(prefix, 'y', user), items[i])
  end
end

-- Named fields: user_tag, receipt, request (its digest), salt, header, payload, without (as formed_without), parties and subjects (their numbers); then party…; of each
--       person-epoch its subject tag, EPOCH, PROX_ID, name of the evidence key; then notices. All that is the person's goes
--       with the event, once.
local function gw_erase_finish(keys, a)
  local prefix, f, rows = keys[1], named(a)
  local user, at = f.user_tag, rows + tonumber(f.parties)
  local job = key(prefix, 'j', user)
  if redis.call('EXISTS', job) == 0 or redis.call('HGET', job, 'v') == '1' then return 0 end
  local removed, parties, dropped = {}, {}, {}
  formed_without(prefix, user, f.without, true)
  for _, group in ipairs(groups_of(prefix, user, 'e', 'n', 't')) do
    removed[#removed + 1] = group[3][1] .. '/' .. group[3][2] .. '/' .. group[1]
    if group[3][3] == 'entries' then
      keep_entries(prefix, group[1], group[2], function(member) return member == user and 'erased' or nil end, f.salt, true)
    else forget_group(prefix, group[1], group[2]) end
  end
  for item in string.gmatch(redis.call('HGET', job, 'd') or '', '[^\n]+') do dropped[#dropped + 1] = item end
  for i = rows, at - 1 do parties[#parties + 1] = a[i] end
  local header = with_feeds(prefix, f.header, parties)
  for name, items in pairs({dropped = dropped, removed = removed}) do header = with_list(header, name, items) end
  redis.call('SET', key(prefix, 'rq', f.request), place_of(prefix, append_event(prefix, 'ERASED', f.salt, header, f.payload)))
  local notices = at + 4 * tonumber(f.subjects)
  for i = at, notices - 1, 4 do
    local tag = redis.call('GET', key(prefix, 'p', a[i + 2]))
    if tag then redis.call('DEL', key(prefix, 'k', tag)) end
    redis.call('DEL', key(prefix, 'ek', a[i]), a[i + 3], key(prefix, 'p', a[i + 2]), key(prefix, 'u', user, a[i + 1]),
      key(prefix, 'c', user, a[i + 1]))
    redis.call('ZREM', key(prefix, 'owed'), 'consent|' .. user .. '|' .. a[i + 1])
  end
  for _, name in ipairs(redis.call('ZRANGE', key(prefix, 'i', user), 0, -1)) do redis.call('DEL', key(prefix, name)) end
  for _, name in ipairs({'s', 'e', 'eo', 'au', 'ob', 'gs', 'i', 'ig', 'ie', 'it', 'ps', 'rc'}) do
    redis.call('DEL', key(prefix, name, user))
  end
  put_notices(prefix, user, a, notices)
  redis.call('HDEL', job, 'r', 'e', 'd')
  redis.call('HSET', job, 'v', '1', 'c', f.receipt)
  return 1
end

-- ARGV: user tag. Both stores' files hold nothing any more: from here on the receipt is the answer.
local function gw_erase_done(keys, a)
  local prefix, user = keys[1], a[1]
  local receipt = redis.call('HGET', key(prefix, 'j', user), 'c')
  if not receipt then return 0 end
  redis.call('SET', key(prefix, 'x', user), receipt)
  redis.call('SREM', key(prefix, 'jobs'), user)
  return redis.call('DEL', key(prefix, 'j', user))
end

-- The job to tell the main service of a request: `oj`, and behind it, of what was asked while it waits, the newest alone: `on`.
-- f says that an objection begins by it, of which parties are told.
local function object_job(prefix, name, user, request, enrolment, digest, objects, fresh)
  redis.call('HSET', key(prefix, name, user), 'r', request, 'e', enrolment, 'd', digest, 'o', objects, 'f', fresh,
    'l', redis.call('GET', key(prefix, 'last')) or '')
  owe(prefix, 'object|' .. user, 0)
end

-- ARGV: user tag, request, enrolment, digest of the request, 1, or 0 if an objection is taken back. From here on nothing of who
-- objects goes out, whatever was granted. The main service is owed the word, after what it is owed before. Nothing for an unknown
-- or erased user.
local function gw_object(keys, a)
  local prefix, user = keys[1], a[1]
  if redis.call('EXISTS', key(prefix, 'e', user)) == 0 or redis.call('EXISTS', key(prefix, 'x', user)) == 1 then return false end
  if redis.call('EXISTS', key(prefix, 'rq', a[4])) == 1 then return 1 end
  local first = a[5] == '1' and redis.call('SET', key(prefix, 'ob', user), '1', 'NX')
  local owed = redis.call('HGET', key(prefix, 'oj', user), 'd')
  if owed ~= a[4] then object_job(prefix, owed and 'on' or 'oj', user, a[2], a[3], a[4], a[5], first and '1' or '0') end
  return 1
end

-- A request of a right is carried out once, and remembered for as long as it counts as fresh.
local function carry_out(prefix, request, ttl, ...)
  redis.call('SET', key(prefix, 'rq', request), place_of(prefix, append_event(prefix, ...)), 'EX', ttl)
end

-- ARGV: digest of a request: where that it was carried out stands in the log; nothing if it was not.
local function gw_right_seen(keys, a)
  return redis.call('GET', key(keys[1], 'rq', a[1]))
end

-- ARGV: PROX_IDs: the credential of each one's key, or ''.
local function gw_credentials(keys, a)
  local prefix, found = keys[1], {}
  for i, prox in ipairs(a) do
    found[i] = redis.call('HGET', key(prefix, 'k', redis.call('GET', key(prefix, 'p', prox)) or ''), 'c') or ''
  end
  return found
end

-- Whether a person has linked another key since the main service was told of the newest ones: EPOCH|PROX_ID of each, one a line.
local function has_linked_since(prefix, user, told)
  local last, newest = -1, {}
  for _, value in ipairs(redis.call('HVALS', key(prefix, 's', user))) do
    local epoch = tonumber(string.match(value, '^[^|]+'))
    if epoch > last then last, newest = epoch, {} end
    if epoch == last then newest[#newest + 1] = value end
  end
  table.sort(newest)
  return table.concat(newest, '\n') ~= told
end

-- Named fields: user_tag, objects (1, or 0 if that is taken back), request (its digest), ttl (s, for which it is remembered),
-- without (as formed_without), told (as has_linked_since), salt, header, payload; then notices. Nothing if it is not what is owed
-- (any more).
local function gw_objected(keys, a)
  local prefix, f, rows = keys[1], named(a)
  local user = f.user_tag
  if redis.call('EXISTS', key(prefix, 'e', user)) == 0 or redis.call('EXISTS', key(prefix, 'x', user)) == 1 then
    return 'UNKNOWN'
  end
  if f.objects == '1' then formed_without(prefix, user, f.without, false) end
  if redis.call('EXISTS', key(prefix, 'rq', f.request)) == 1 then return 'SAME' end
  local job, behind = redis.call('HMGET', key(prefix, 'oj', user), 'd', 'l'), redis.call('HMGET', key(prefix, 'on', user), 'r', 'e', 'd', 'o')
  if job[1] ~= f.request then return 'SAME' end
  if has_linked_since(prefix, user, f.told) then return 'AGAIN' end
  -- Who has objected anew since then objects all the while: nothing of theirs goes out in between.
  local state = f.objects == '1' and '2' or behind[4] == '1' and '1'
  if state then redis.call('SET', key(prefix, 'ob', user), state) else redis.call('DEL', key(prefix, 'ob', user)) end
  local header = f.header:gsub('"last":""', function() return '"last":' .. cjson.encode(job[2]) end)
  redis.call('DEL', key(prefix, 'oj', user), key(prefix, 'on', user))
  redis.call('ZREM', key(prefix, 'owed'), 'object|' .. user)
  if behind[3] then object_job(prefix, 'oj', user, behind[1], behind[2], behind[3], behind[4], state == '1' and '1' or '0') end
  carry_out(prefix, f.request, f.ttl, 'OBJECTED', f.salt, header, f.payload)
  put_notices(prefix, user, a, rows)
  return 'NEW'
end

-- ARGV: party, now s, limit: id and sealed bytes of the notices that the party is to get and has not acknowledged.
local function gw_notices(keys, a)
  local prefix, found = keys[1], {}
  for _, id in ipairs(redis.call('ZRANGE', key(prefix, 'no', a[1]), '-inf', a[2], 'BYSCORE', 'LIMIT', 0, a[3])) do
    found[#found + 1] = id
    found[#found + 1] = redis.call('HGET', key(prefix, 'nt', id), 'b')
  end
  return found
end

-- Named fields: party, id, acknowledgement (the event's payload too), salt, header. What was sealed to the party is not needed any more.
local function gw_noticed(keys, a)
  local prefix, f = keys[1], named(a)
  local entry = key(prefix, 'nt', f.id)
  if redis.call('HGET', entry, 'p') ~= f.party then return 'UNKNOWN' end
  if redis.call('ZREM', key(prefix, 'no', f.party), f.id) == 0 then return 'SAME' end
  redis.call('HDEL', entry, 'b')
  redis.call('HSET', entry, 'a', f.acknowledgement, 'at', redis.call('TIME')[1])
  append_event(prefix, 'NOTICED', f.salt, f.header, f.acknowledgement)
  return 'NEW'
end

-- ARGV: user tag: pk_U or '' (also if it was revoked), tombstone or '', names at parties, of each notice: party, kind, second, acknowledgement; 1 if the
-- user objects.
local function gw_rights_status(keys, a)
  local prefix, user, notices = keys[1], a[1], {}
  for _, id in ipairs(redis.call('LRANGE', key(prefix, 'y', user), 0, -1)) do
    local f = redis.call('HMGET', key(prefix, 'nt', id), 'p', 'k', 't', 'a', 'at')
    notices[#notices + 1] = {f[1], f[2], f[3], f[4] or '', f[5] or ''}
  end
  local known = redis.call('GET', key(prefix, 'e', user)) or ''
  return {is_over(prefix, user, known) and '' or known, redis.call('GET', key(prefix, 'x', user)) or '',
    redis.call('HGETALL', key(prefix, 'it', user)), notices, redis.call('EXISTS', key(prefix, 'ob', user))}
end

-- ARGV: salt, header, payload, digest of the request, ttl (s, for which it is remembered)
local function gw_accessed(keys, a)
  if redis.call('EXISTS', key(keys[1], 'rq', a[4])) == 1 then return 0 end
  carry_out(keys[1], a[4], a[5], 'ACCESSED', a[1], a[2], a[3])
  return 1
end

-- ARGV: user tag: what IS holds: pk_U, then person-epochs with their consent, then groups.
local function gw_share(keys, a)
  local prefix, user, epochs, groups = keys[1], a[1], {}, {}
  local chosen = {}
  for _, value in ipairs(redis.call('HVALS', key(prefix, 's', user))) do
    local epoch = string.match(value, '^[^|]+')
    if not chosen[epoch] then epochs[#epochs + 1] = {epoch, redis.call('HKEYS', key(prefix, 'c', user, epoch)),
      redis.call('HGET', key(prefix, 'c', user, epoch), 'v') or '0'} end
    chosen[epoch] = true
  end
  for _, group in ipairs(groups_of(prefix, user, 'e', 'n', 'k', 'a', 'at')) do
    local f = group[3]
    groups[#groups + 1] = {group[1], f[1], f[2], f[3], f[4], f[5] or ''}
  end
  for _, f in ipairs(received(prefix, user)) do groups[#groups + 1] = {f[1], f[2], f[3], f[6], '1', f[5]} end
  for _, name in ipairs(redis.call('HKEYS', key(prefix, 'ps', user))) do
    local party, epoch, group, grant = string.match(name, '^([^|]*)|(%d+)|(%d+)|(.*)$')
    groups[#groups + 1] = {party, epoch, group, grant, '0', ''}
  end
  return {redis.call('GET', key(prefix, 'e', user)) or '', epochs, groups,
    redis.call('EXISTS', key(prefix, 'ob', user))}
end

redis.register_function('gw_erase_begin', gw_erase_begin)
redis.register_function('gw_erase_finish', gw_erase_finish)
redis.register_function('gw_erase_done', gw_erase_done)
redis.register_function('gw_object', gw_object)
redis.register_function('gw_objected', gw_objected)
redis.register_function('gw_noticed', gw_noticed)
redis.register_function('gw_accessed', gw_accessed)
reads('gw_right_seen', gw_right_seen)
reads('gw_credentials', gw_credentials)
reads('gw_share', gw_share)
reads('gw_erase_jobs', gw_erase_jobs)
reads('gw_erase_job', gw_erase_job)
reads('gw_notices', gw_notices)
reads('gw_rights_status', gw_rights_status)
