-- The Identity Screener's atomic steps. KEYS[1] is the prefix "{gw}", so that all keys share one hash slot.
--
--   k:TAG       hash of an epoch key: u user tag, id USER_ID, e epoch, p PROX_ID, s seasoned, l link, c credential
--   p:PROX_ID   tag of its epoch key            u:UTAG:EPOCH   tag of the user's live epoch key
--   e:UTAG      public key the user enrolled    x:UTAG         tombstone of an erased user
--   ek:SUBJECT  private evidence key            es:NAME        public one of a PROX_ID, for the writer
--   ob:UTAG     the user objected: no grant is taken
--   s:UTAG      hash of the user's person-epochs: subject tag → EPOCH|PROX_ID
--   n:NONCE     request hash seen under a nonce a:SESSION      stored answer          open   sessions not answered
--   c:UTAG:E    hash of a consent: v version, and a field PARTY|TYPE|FIDELITY for each grant
--   f:PARTY     sorted set of feed cursors      g:PARTY:CURSOR hash of a group in the feed: e epoch, n number,
--               k TYPE|FIDELITY, r records, m user tags, s 1 when written to a stream, a 1 when acknowledged
--   o:PARTY     the cursors not acknowledged    close:PARTY    counts calls to close the party's streams
--   al:PARTY:NAME  an alias that ALIASED has named  nm:FORM     user tag of whose name has this form
--
-- What is a person's is found by the person's own index, which each step that writes something adds to:
--
--   s:UTAG      (above) implies k, u, p, c, ek and es of each person-epoch
--   i:UTAG      sorted set of other keys (n, a, r, al, nm) by the second at which they are gone by themselves
--   ig:UTAG     set PARTY|CURSOR of the groups in feeds that hold the person
--   it:UTAG     hash PARTY|NAME → groups that the party has acknowledged under that name of the person's; 0: written only
--   jobs        user tags of erasures under way     j:UTAG   hash: r request, e enrolment, d groups dropped, v when logged
--   no:PARTY    sorted set of notices to a party by the second from which it gets them     nt:ID   hash of a notice:
--               p party, k kind, b sealed to the party, t second, a acknowledgement, at its second
--   y:UTAG      list of the notices that were made for a person; it stays when the person is erased

local function key(prefix, ...)
  return prefix .. ':' .. table.concat({...}, ':')
end

-- Enter keys that end by themselves after ttl seconds, or never if it is nil, into their owner's index.
local function own(prefix, user, ttl, ...)
  local now, index = tonumber(redis.call('TIME')[1]), key(prefix, 'i', user)
  redis.call('ZREMRANGEBYSCORE', index, '-inf', now)
  for _, name in ipairs({...}) do redis.call('ZADD', index, ttl and now + ttl + 1 or '+inf', name) end
end

local function is_live(prefix, tag)
  local user = redis.call('HGET', key(prefix, 'k', tag), 'u')
  if not user or redis.call('EXISTS', key(prefix, 'x', user)) == 1 then return nil end
  local epoch = redis.call('HGET', key(prefix, 'k', tag), 'e')
  if redis.call('GET', key(prefix, 'u', user, epoch)) ~= tag then return nil end
  return user
end

-- ARGV: key tag, user tag, epoch, PROX_ID, USER_ID, pk_U, seasoned, link, credential, ttl s,
--       salt, ENROLLED header, ENROLLED payload, salt, LINKED header, LINKED payload,
--       subject tag, evidence seed, name of the evidence key, evidence key, form of the name…
local function gw_link(keys, a)
  local prefix = keys[1]
  require_room(prefix)
  local tag, user, epoch, prox = a[1], a[2], a[3], a[4]
  if redis.call('EXISTS', key(prefix, 'x', user)) == 1 then return 'ERASED' end
  local stored = redis.call('HGET', key(prefix, 'k', tag), 'l')
  if stored then return stored == a[8] and 'SAME' or 'TAKEN' end
  if redis.call('EXISTS', key(prefix, 'u', user, epoch)) == 1 then return 'LIVE' end
  local enrolled = redis.call('GET', key(prefix, 'e', user))
  if not enrolled then
    for i = 21, #a do
      if redis.call('EXISTS', key(prefix, 'nm', a[i])) == 1 then return 'ALIKE' end
    end
    for i = 21, #a do
      redis.call('SET', key(prefix, 'nm', a[i]), user)
      own(prefix, user, nil, 'nm:' .. a[i])
    end
  end
  if enrolled ~= a[6] then
    redis.call('SET', key(prefix, 'e', user), a[6])
    append_event(prefix, 'ENROLLED', a[11], a[12], a[13])
  end
  redis.call('HSET', key(prefix, 'k', tag), 'u', user, 'id', a[5], 'e', epoch, 'p', prox, 's', a[7], 'l', a[8], 'c', a[9])
  redis.call('EXPIRE', key(prefix, 'k', tag), a[10])
  redis.call('SET', key(prefix, 'u', user, epoch), tag, 'EX', a[10])
  redis.call('SET', key(prefix, 'p', prox), tag, 'EX', a[10])
  redis.call('SET', key(prefix, 'ek', a[17]), a[18], 'EX', a[10])
  redis.call('SET', a[19], a[20], 'EX', a[10])
  redis.call('HSET', key(prefix, 's', user), a[17], epoch .. '|' .. prox)
  append_event(prefix, 'LINKED', a[14], a[15], a[16])
  return 'NEW'
end

-- ARGV: key tag, nonce tag, session, now s, nonce ttl s, requests a minute, salt, header, payload
local function gw_forward(keys, a)
  local prefix = keys[1]
  require_room(prefix)
  local user = is_live(prefix, a[1])
  if not user then return {'UNREGISTERED'} end
  local seen = redis.call('GET', key(prefix, 'n', a[2]))
  if seen then
    if seen ~= a[3] then return {'REPLAYED'} end
    local answer = redis.call('GET', key(prefix, 'a', a[3]))
    if answer then return {'ANSWERED', answer} end
    return {'RETRY'}
  end
  local window = key(prefix, 'r', user, math.floor(tonumber(a[4]) / 60))
  if redis.call('INCR', window) > tonumber(a[6]) then return {'RATE'} end
  redis.call('EXPIRE', window, 120)
  redis.call('SET', key(prefix, 'n', a[2]), a[3], 'EX', a[5])
  own(prefix, user, tonumber(a[5]), 'n:' .. a[2], window:sub(#prefix + 2))
  redis.call('ZADD', key(prefix, 'open'), a[4], a[3])
  append_event(prefix, 'FORWARDED', a[7], a[8], a[9])
  return {'NEW'}
end

-- ARGV: session, answer, ttl s, salt, header, payload, user tag. The first answer stays; nothing is returned to whoever
-- brought it. For somebody who was erased meanwhile nothing is kept, and the log says no more than that MS may have it.
local function gw_answered(keys, a)
  local prefix = keys[1]
  local answer = redis.call('GET', key(prefix, 'a', a[1]))
  if answer then return answer end
  if redis.call('EXISTS', key(prefix, 'e', a[7])) == 0 then
    if redis.call('ZREM', key(prefix, 'open'), a[1]) == 1 then append_event(prefix, 'UNREACHED', a[4], a[5], '') end
    return false
  end
  redis.call('SET', key(prefix, 'a', a[1]), a[2], 'EX', a[3])
  own(prefix, a[7], tonumber(a[3]), 'a:' .. a[1])
  redis.call('ZREM', key(prefix, 'open'), a[1])
  append_event(prefix, 'ANSWERED', a[4], a[5], a[6])
  return false
end

-- ARGV: session, salt, header. Says that MS may never have got it; a later retry may still be answered.
local function gw_unreached(keys, a)
  local prefix = keys[1]
  if redis.call('ZREM', key(prefix, 'open'), a[1]) == 0 then return 0 end
  append_event(prefix, 'UNREACHED', a[2], a[3], '')
  return 1
end

-- ARGV: session. MS has answered with a refusal, which its own log holds.
local function gw_settled(keys, a)
  return redis.call('ZREM', key(keys[1], 'open'), a[1])
end

-- ARGV: limit, latest time. Sessions that were forwarded until then and are not settled.
local function gw_open(keys, a)
  return redis.call('ZRANGE', key(keys[1], 'open'), '-inf', a[2], 'BYSCORE', 'LIMIT', 0, a[1])
end

-- ARGV: salt, header
local function gw_refused(keys, a)
  return append_event(keys[1], 'REFUSED', a[1], a[2], '')
end

-- ARGV: key tag
local function gw_registration(keys, a)
  local user = is_live(keys[1], a[1])
  if not user then return {} end
  return redis.call('HMGET', key(keys[1], 'k', a[1]), 'id', 'u', 'e', 'p', 's', 'l', 'c')
end

-- ARGV: PROX_ID…; for each the USER_ID, user tag and epoch, or empty strings.
local function gw_people(keys, a)
  local prefix, found = keys[1], {}
  for _, prox in ipairs(a) do
    local tag = redis.call('GET', key(prefix, 'p', prox))
    local fields = tag and redis.call('HMGET', key(prefix, 'k', tag), 'id', 'u', 'e') or {'', '', ''}
    for i = 1, 3 do found[#found + 1] = fields[i] or '' end
  end
  return found
end

-- Why nothing of a person may go out under a grant PARTY|TYPE|FIDELITY of an epoch; nil if it may.
local function refusal(prefix, user, epoch, grant)
  if redis.call('EXISTS', key(prefix, 'x', user)) == 1 then return 'erased' end
  if redis.call('EXISTS', key(prefix, 'ob', user)) == 1 then return 'objected' end
  if redis.call('HEXISTS', key(prefix, 'c', user, epoch), grant) == 0 then return 'no_consent' end
  return nil
end

local function members_of(fields)
  local members = {}
  for user in string.gmatch(fields or '', '[^,]+') do members[#members + 1] = user end
  return members
end

-- Take a group out of a feed and out of its members' indexes.
local function forget_group(prefix, party, cursor)
  local entry = key(prefix, 'g', party, cursor)
  for _, user in ipairs(members_of(redis.call('HGET', entry, 'm'))) do
    redis.call('SREM', key(prefix, 'ig', user), party .. '|' .. cursor)
  end
  for _, kind in ipairs({'f', 'o', 'end'}) do redis.call('ZREM', key(prefix, kind, party), cursor) end
  redis.call('DEL', entry)
end

-- DROPPED; what goes because somebody is being erased is remembered with the erasure, whose event will name it.
local function dropped(prefix, party, epoch, group, reason, salt, members)
  local header = cjson.encode({epoch = tonumber(epoch), group = tonumber(group), party = party, reason = reason})
  append_event(prefix, 'DROPPED', salt, header, '')
  for _, user in ipairs(reason == 'erased' and members or {}) do
    local job = key(prefix, 'j', user)
    if user ~= '' and redis.call('EXISTS', job) == 1 then
      redis.call('HSET', job, 'd', (redis.call('HGET', job, 'd') or '') .. epoch .. '/' .. group .. '/' .. party .. '\n')
    end
  end
end

local function drop_group(prefix, party, cursor, reason, salt)
  local fields = redis.call('HMGET', key(prefix, 'g', party, cursor), 'e', 'n', 'm')
  forget_group(prefix, party, cursor)
  dropped(prefix, party, fields[1], fields[2], reason, salt, members_of(fields[3]))
end

-- A person's groups in feeds: party, cursor, and the group's fields of these names; in the order of their names.
local function groups_of(prefix, user, ...)
  local found, names = {}, redis.call('SMEMBERS', key(prefix, 'ig', user))
  table.sort(names)
  for _, name in ipairs(names) do
    local party, cursor = string.match(name, '^(.*)|(%d+)$')
    found[#found + 1] = {party, cursor, redis.call('HMGET', key(prefix, 'g', party, cursor), ...)}
  end
  return found
end

-- ARGV: user tag, epoch, version, ttl s, salt, header, payload, grant PARTY|TYPE|FIDELITY…
local function gw_consent(keys, a)
  local prefix, user, epoch, version = keys[1], a[1], a[2], tonumber(a[3])
  require_room(prefix)
  local entry = key(prefix, 'c', user, epoch)
  if redis.call('EXISTS', key(prefix, 'x', user)) == 1 then return 'ERASED' end
  if #a > 7 and redis.call('EXISTS', key(prefix, 'ob', user)) == 1 then return 'OBJECTED' end
  local current = tonumber(redis.call('HGET', entry, 'v') or '0')
  if version == current and redis.call('HGET', entry, 'w') == a[7] then return 'SAME' end
  if version ~= current + 1 then return 'STALE' end
  redis.call('DEL', entry)
  redis.call('HSET', entry, 'v', version, 'w', a[7])
  for i = 8, #a do redis.call('HSET', entry, a[i], '1') end
  redis.call('EXPIRE', entry, a[4])
  append_event(prefix, 'CONSENT', a[5], a[6], a[7])
  return 'NEW'
end

local function flying_of(wait)
  local flying = {}
  for party in pairs(wait) do flying[#flying + 1] = party end
  table.sort(flying)
  return flying
end

-- ARGV: user tag, epoch or '' for all, reason or '', salt. Drops the person's groups that may not go out (any more) and
-- are not on the wire; the parties where one still is. With a reason all go, whatever was granted.
local function gw_settle(keys, a)
  local prefix, user, wait = keys[1], a[1], {}
  for _, group in ipairs(groups_of(prefix, user, 'e', 'k', 's', 'a')) do
    local party, cursor, f = group[1], group[2], group[3]
    local why = a[3]
    if why == '' and refusal(prefix, user, f[1], party .. '|' .. f[2]) then why = 'withdrawn' end
    if f[4] == '0' and why ~= '' and (a[2] == '' or f[1] == a[2]) then
      if f[3] == '1' then wait[party] = true else drop_group(prefix, party, cursor, why, a[4]) end
    end
  end
  return flying_of(wait)
end

-- ARGV: party…: ask whoever streams to them to stop.
local function gw_close_streams(keys, a)
  for _, party in ipairs(a) do redis.call('INCR', key(keys[1], 'close', party)) end
  return #a
end

-- ARGV: party
local function gw_closings(keys, a)
  return redis.call('GET', key(keys[1], 'close', a[1])) or '0'
end

-- ARGV: party…: no stream is open (the service has just started): nothing is on the wire.
local function gw_reset_streams(keys, a)
  for _, party in ipairs(a) do
    for _, cursor in ipairs(redis.call('ZRANGE', key(keys[1], 'o', party), 0, -1)) do
      redis.call('HSET', key(keys[1], 'g', party, cursor), 's', '0')
    end
  end
  return #a
end

-- ARGV: salt, header, payload
local function gw_consent_acknowledged(keys, a)
  return append_event(keys[1], 'CONSENT', a[1], a[2], a[3])
end

-- ARGV: party, epoch, group, TYPE|FIDELITY, records, release cursor, salt, reason to drop it or '', ttl s of aliases,
--       number of members, then of each its user tag and the name that it is published under, then if these are aliases
--       of each: salt, header, payload
-- A group whose every member consents joins the feed; any other is dropped whole (DESIGN 7).
local function gw_append(keys, a)
  local prefix, party, epoch, group, grant = keys[1], a[1], a[2], a[3], a[4]
  if tonumber(a[6]) <= tonumber(redis.call('GET', key(prefix, 'released')) or '0') then return 'SAME' end
  redis.call('SET', key(prefix, 'released'), a[6])
  redis.call('SET', key(prefix, 'last'), epoch .. '/' .. group .. '/' .. party)
  local members, names, reason, count = {}, {}, a[8], tonumber(a[10])
  for i = 1, count do
    members[i], names[i] = a[9 + 2 * i], a[10 + 2 * i]
    if reason == '' then
      reason = members[i] == '' and 'no_consent' or refusal(prefix, members[i], epoch, party .. '|' .. grant) or ''
    end
  end
  if reason ~= '' then
    dropped(prefix, party, epoch, group, reason, a[7], members)
    return 'DROPPED'
  end
  local at = 11 + 2 * count
  for i = 1, at <= #a and count or 0 do
    local name = 'al:' .. party .. ':' .. names[i]
    if redis.call('SET', key(prefix, name), '1', 'EX', a[9], 'NX') then
      own(prefix, members[i], tonumber(a[9]), name)
      append_event(prefix, 'ALIASED', a[at], a[at + 1], a[at + 2])
    end
    at = at + 3
  end
  local cursor = redis.call('INCR', key(prefix, 'cursor', party))
  redis.call('ZADD', key(prefix, 'f', party), cursor, cursor)
  redis.call('ZADD', key(prefix, 'o', party), cursor, cursor)
  redis.call('HSET', key(prefix, 'g', party, cursor), 'e', epoch, 'n', group, 'k', grant, 'r', a[5],
    'm', table.concat(members, ','), 'w', cjson.encode(names), 's', '0', 'a', '0')
  for _, user in ipairs(members) do redis.call('SADD', key(prefix, 'ig', user), party .. '|' .. cursor) end
  return 'NEW'
end

-- The party may hold (0), or has acknowledged (1 more), a record under each member's name.
local function held_by(prefix, party, fields, more)
  local names = cjson.decode(fields[2] or '[]')
  for i, user in ipairs(members_of(fields[1])) do
    if names[i] then redis.call('HINCRBY', key(prefix, 'it', user), party .. '|' .. names[i], more) end
  end
end

-- ARGV: party, after, limit, salt. Marks the groups as written; drops those that may not go out any more.
local function gw_take(keys, a)
  local prefix, party, taken = keys[1], a[1], {}
  for _, cursor in ipairs(redis.call('ZRANGE', key(prefix, 'f', party), '(' .. a[2], '+inf', 'BYSCORE', 'LIMIT', 0, a[3])) do
    local entry = key(prefix, 'g', party, cursor)
    local fields = redis.call('HMGET', entry, 'e', 'n', 'r', 'k', 'm', 'a', 's', 'w')
    local allowed = fields[1] ~= false
    if not allowed then redis.call('ZREM', key(prefix, 'f', party), cursor) end
    if allowed and fields[6] ~= '1' then
      local why = nil
      for _, user in ipairs(members_of(fields[5])) do
        why = why or refusal(prefix, user, fields[1], party .. '|' .. fields[4])
      end
      allowed = not why
      if why then drop_group(prefix, party, cursor, why == 'no_consent' and 'withdrawn' or why, a[4]) end
    end
    if allowed then
      if fields[7] ~= '1' then held_by(prefix, party, {fields[5], fields[8]}, 0) end
      redis.call('HSET', entry, 's', '1')
      for _, item in ipairs({cursor, fields[1], fields[2], fields[3]}) do taken[#taken + 1] = item end
    end
  end
  return taken
end

-- ARGV: party, cursor…: a stream ended; what it wrote and nobody acknowledged counts as not written.
local function gw_untake(keys, a)
  for i = 2, #a do
    local entry = key(keys[1], 'g', a[1], a[i])
    if redis.call('HGET', entry, 'a') == '0' then redis.call('HSET', entry, 's', '0') end
  end
  return #a - 1
end

-- ARGV: party, cursor
local function gw_group(keys, a)
  return redis.call('HMGET', key(keys[1], 'g', a[1], a[2]), 'e', 'n', 'r', 'a')
end

-- ARGV: party, cursor, retention s, salt, header, payload
local function gw_delivered(keys, a)
  local prefix = keys[1]
  local entry = key(prefix, 'g', a[1], a[2])
  local fields = redis.call('HMGET', entry, 's', 'a')
  if not fields[1] then return 'UNKNOWN' end
  if fields[2] == '1' then return 'SAME' end
  -- Its stream may have ended meanwhile: the digest that the party signed shows that it has the records, and a
  -- group that lost a consent would be gone.
  redis.call('HSET', entry, 'a', '1', 'at', redis.call('TIME')[1])
  held_by(prefix, a[1], redis.call('HMGET', entry, 'm', 'w'), 1)
  redis.call('ZREM', key(prefix, 'o', a[1]), a[2])
  redis.call('ZADD', key(prefix, 'end', a[1]), redis.call('TIME')[1] + a[3], a[2])
  append_event(prefix, 'DELIVERED', a[4], a[5], a[6])
  return 'NEW'
end

-- ARGV: salt, now s, party…: removes acknowledged groups whose time is over; how many.
local function gw_expire_feeds(keys, a)
  local prefix, gone = keys[1], 0
  for i = 3, #a do
    for _, cursor in ipairs(redis.call('ZRANGEBYSCORE', key(prefix, 'end', a[i]), '-inf', a[2], 'LIMIT', 0, 1000)) do
      forget_group(prefix, a[i], cursor)
      gone = gone + 1
    end
  end
  if gone > 0 then append_event(prefix, 'EXPIRED', a[1], cjson.encode({count = gone, kind = 'feeds'}), '') end
  return gone
end

-- ARGV: epoch
local function gw_epoch(keys, a)
  return redis.call('GET', key(keys[1], 'epoch', a[1]))
end

local function with_list(header, name, items)
  return (header:gsub('"' .. name .. '":%[%]', function()
    return '"' .. name .. '":' .. (#items == 0 and '[]' or cjson.encode(items))
  end))
end

-- A header that says what waits in the feeds, and the last release that was handled: whatever else the auditor misses has
-- vanished. A store from before does not know the last release until there is one.
local function with_feeds(prefix, header, parties)
  local last, feeds = redis.call('GET', key(prefix, 'last')), {}
  if not last and redis.call('EXISTS', key(prefix, 'released')) == 1 then return header end
  for _, party in ipairs(parties) do feeds[#feeds + 1] = party .. ':' .. redis.call('ZCARD', key(prefix, 'o', party)) end
  header = header:gsub('"last":""', function() return '"last":' .. cjson.encode(last or '') end)
  return with_list(header, 'feeds', feeds)
end

-- ARGV: epoch, MS's signed key, ttl s, salt, header, payload, time at which its links expire, party… The first key stays.
local function gw_open_epoch(keys, a)
  local entry = key(keys[1], 'epoch', a[1])
  if redis.call('SET', entry, a[2], 'EX', a[3], 'NX') then
    redis.call('ZADD', key(keys[1], 'expiring'), a[7], a[1])
    append_event(keys[1], 'EPOCH_OPENED', a[4], with_feeds(keys[1], a[5], {unpack(a, 8)}), a[6])
  end
  return redis.call('GET', entry)
end

-- ARGV: salt, now s. Links go by their time to live; an event for each epoch says so before.
local function gw_expire_links(keys, a)
  local prefix = keys[1]
  local due = redis.call('ZRANGEBYSCORE', key(prefix, 'expiring'), '-inf', a[2], 'LIMIT', 0, 1000)
  for _, epoch in ipairs(due) do
    redis.call('ZREM', key(prefix, 'expiring'), epoch)
    local header = string.format('{"first":%s,"kind":"links","until":%s}', epoch, epoch)
    append_event(prefix, 'EXPIRED', a[1], header, '')
  end
  return #due
end

-- ARGV: party, salt. What waits for a party that left is dropped, but for what is on the wire; how many groups are.
local function gw_drop_left(keys, a)
  local prefix, party, flying = keys[1], a[1], 0
  for _, cursor in ipairs(redis.call('ZRANGE', key(prefix, 'o', party), 0, 999)) do
    if redis.call('HGET', key(prefix, 'g', party, cursor), 's') == '1' then flying = flying + 1
    else drop_group(prefix, party, cursor, 'party_left', a[2]) end
  end
  if flying > 0 then redis.call('INCR', key(prefix, 'close', party)) end
  return flying
end

local function gw_released_cursor(keys, a)
  return redis.call('GET', key(keys[1], 'released')) or '0'
end

redis.register_function('gw_link', gw_link)
redis.register_function('gw_forward', gw_forward)
redis.register_function('gw_answered', gw_answered)
redis.register_function('gw_unreached', gw_unreached)
redis.register_function('gw_settled', gw_settled)
redis.register_function('gw_refused', gw_refused)
redis.register_function('gw_consent', gw_consent)
redis.register_function('gw_consent_acknowledged', gw_consent_acknowledged)
redis.register_function('gw_append', gw_append)
redis.register_function('gw_settle', gw_settle)
redis.register_function('gw_close_streams', gw_close_streams)
redis.register_function('gw_reset_streams', gw_reset_streams)
redis.register_function('gw_take', gw_take)
redis.register_function('gw_untake', gw_untake)
redis.register_function('gw_delivered', gw_delivered)
redis.register_function('gw_expire_feeds', gw_expire_feeds)
redis.register_function('gw_expire_links', gw_expire_links)
redis.register_function('gw_drop_left', gw_drop_left)
redis.register_function('gw_open_epoch', gw_open_epoch)
-- While a library is loaded there is no `pairs`: one line each.
local function reads(name, fn)
  redis.register_function{function_name = name, callback = fn, flags = {'no-writes'}}
end
reads('gw_open', gw_open)
reads('gw_epoch', gw_epoch)
reads('gw_registration', gw_registration)
reads('gw_people', gw_people)
reads('gw_closings', gw_closings)
reads('gw_group', gw_group)
reads('gw_released_cursor', gw_released_cursor)
