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

local function key(prefix, ...)
  return prefix .. ':' .. table.concat({...}, ':')
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
--       subject tag, evidence seed, name of the evidence key, evidence key
local function gw_link(keys, a)
  local prefix = keys[1]
  local tag, user, epoch, prox = a[1], a[2], a[3], a[4]
  if redis.call('EXISTS', key(prefix, 'x', user)) == 1 then return 'ERASED' end
  local stored = redis.call('HGET', key(prefix, 'k', tag), 'l')
  if stored then return stored == a[8] and 'SAME' or 'TAKEN' end
  if redis.call('EXISTS', key(prefix, 'u', user, epoch)) == 1 then return 'LIVE' end
  local enrolled = redis.call('GET', key(prefix, 'e', user))
  if enrolled ~= a[6] then
    redis.call('SET', key(prefix, 'e', user), a[6])
    append_event(prefix, 'ENROLLED', a[11], a[12], a[13])
  end
  redis.call('HSET', key(prefix, 'k', tag), 'u', user, 'id', a[5], 'e', epoch, 'p', prox, 's', a[7], 'l', a[8], 'c', a[9])
  redis.call('EXPIRE', key(prefix, 'k', tag), a[10])
  redis.call('SET', key(prefix, 'u', user, epoch), tag, 'EX', a[10])
  redis.call('SET', key(prefix, 'p', prox), tag, 'EX', a[10])
  redis.call('SET', key(prefix, 'first'), epoch, 'NX')
  redis.call('SET', key(prefix, 'ek', a[17]), a[18], 'EX', a[10])
  redis.call('SET', a[19], a[20], 'EX', a[10])
  redis.call('HSET', key(prefix, 's', user), a[17], epoch .. '|' .. prox)
  append_event(prefix, 'LINKED', a[14], a[15], a[16])
  return 'NEW'
end

-- ARGV: key tag, nonce tag, session, now s, nonce ttl s, requests a minute, salt, header, payload
local function gw_forward(keys, a)
  local prefix = keys[1]
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
  redis.call('ZADD', key(prefix, 'open'), a[4], a[3])
  append_event(prefix, 'FORWARDED', a[7], a[8], a[9])
  return {'NEW'}
end

-- ARGV: session, answer, ttl s, salt, header, payload. The first answer stays; nothing is returned to whoever brought it.
local function gw_answered(keys, a)
  local prefix = keys[1]
  local answer = redis.call('GET', key(prefix, 'a', a[1]))
  if answer then return answer end
  redis.call('SET', key(prefix, 'a', a[1]), a[2], 'EX', a[3])
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

local function grants(prefix, user, epoch, grant)
  return redis.call('EXISTS', key(prefix, 'x', user)) == 0
    and redis.call('HEXISTS', key(prefix, 'c', user, epoch), grant) == 1
end

local function drop_group(prefix, party, cursor, reason, salt)
  local entry = key(prefix, 'g', party, cursor)
  local fields = redis.call('HMGET', entry, 'e', 'n')
  redis.call('ZREM', key(prefix, 'f', party), cursor)
  redis.call('ZREM', key(prefix, 'o', party), cursor)
  redis.call('DEL', entry)
  local header = cjson.encode({epoch = tonumber(fields[1]), group = tonumber(fields[2]), party = party, reason = reason})
  append_event(prefix, 'DROPPED', salt, header, '')
end

-- Groups of one epoch with a person, not acknowledged by a party that has no grant for them (any more).
local function groups_without_grant(prefix, party, user, epoch)
  local held = {}
  for _, cursor in ipairs(redis.call('ZRANGE', key(prefix, 'o', party), 0, -1)) do
    local fields = redis.call('HMGET', key(prefix, 'g', party, cursor), 'm', 'e', 'k', 's')
    if fields[1] and fields[2] == epoch and string.find(fields[1], user, 1, true)
        and not grants(prefix, user, epoch, party .. '|' .. fields[3]) then
      held[#held + 1] = {cursor, fields[4]}
    end
  end
  return held
end

-- ARGV: user tag, epoch, version, ttl s, salt, header, payload, grant PARTY|TYPE|FIDELITY…
local function gw_consent(keys, a)
  local prefix, user, epoch, version = keys[1], a[1], a[2], tonumber(a[3])
  local entry = key(prefix, 'c', user, epoch)
  if redis.call('EXISTS', key(prefix, 'x', user)) == 1 then return 'ERASED' end
  if #a > 7 and redis.call('EXISTS', key(prefix, 'ob', user)) == 1 then return 'OBJECTED' end
  local current = tonumber(redis.call('HGET', entry, 'v') or '0')
  if version == current and redis.call('HGET', entry, 'w') == a[7] then return 'SAME' end
  if version ~= current + 1 then return 'STALE' end
  local lost = {}
  for _, field in ipairs(redis.call('HKEYS', entry)) do
    local party = string.match(field, '^([^|]+)|')
    if party then lost[party] = true end
  end
  local list = {}
  for party in pairs(lost) do list[#list + 1] = party end
  table.sort(list)
  redis.call('DEL', entry)
  redis.call('HSET', entry, 'v', version, 'w', a[7], 'lost', table.concat(list, ','))
  for i = 8, #a do redis.call('HSET', entry, a[i], '1') end
  redis.call('EXPIRE', entry, a[4])
  append_event(prefix, 'CONSENT', a[5], a[6], a[7])
  return 'NEW'
end

-- ARGV: user tag, epoch, salt. Drops what lost its grant and is not on the wire; the parties where it still is.
local function gw_settle_consent(keys, a)
  local prefix, user, epoch, flying = keys[1], a[1], a[2], {}
  local lost = redis.call('HGET', key(prefix, 'c', user, epoch), 'lost') or ''
  for party in string.gmatch(lost, '[^,]+') do
    local wait = false
    for _, held in ipairs(groups_without_grant(prefix, party, user, epoch)) do
      if held[2] == '1' then wait = true else drop_group(prefix, party, held[1], 'withdrawn', a[3]) end
    end
    if wait then flying[#flying + 1] = party end
  end
  return flying
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

-- ARGV: party, epoch, group, TYPE|FIDELITY, records, release cursor, salt, number of new aliases, reason to drop it
--       or '', then user tag… of the members, then for each alias: name, salt, header, payload
-- A group whose every member consents joins the feed; any other is dropped whole (DESIGN 7).
local function gw_append(keys, a)
  local prefix, party, epoch, group, grant = keys[1], a[1], a[2], a[3], a[4]
  if tonumber(a[6]) <= tonumber(redis.call('GET', key(prefix, 'released')) or '0') then return 'SAME' end
  local aliases = tonumber(a[8])
  local last = #a - 4 * aliases
  redis.call('SET', key(prefix, 'released'), a[6])
  local members, reason = {}, a[9]
  for i = 10, last do
    members[#members + 1] = a[i]
    if reason == '' and (a[i] == '' or not grants(prefix, a[i], epoch, party .. '|' .. grant)) then
      reason = 'no_consent'
    end
  end
  if reason ~= '' then
    local header = cjson.encode({epoch = tonumber(epoch), group = tonumber(group), party = party, reason = reason})
    append_event(prefix, 'DROPPED', a[7], header, '')
    return 'DROPPED'
  end
  for i = last + 1, #a, 4 do
    if redis.call('HSETNX', key(prefix, 'alias', party), a[i], '1') == 1 then
      append_event(prefix, 'ALIASED', a[i + 1], a[i + 2], a[i + 3])
    end
  end
  local cursor = redis.call('INCR', key(prefix, 'cursor', party))
  redis.call('ZADD', key(prefix, 'f', party), cursor, cursor)
  redis.call('ZADD', key(prefix, 'o', party), cursor, cursor)
  redis.call('HSET', key(prefix, 'g', party, cursor), 'e', epoch, 'n', group, 'k', grant, 'r', a[5],
    'm', table.concat(members, ','), 's', '0', 'a', '0')
  return 'NEW'
end

-- ARGV: party, after, limit, salt. Marks the groups as written; drops those that lost a consent meanwhile.
local function gw_take(keys, a)
  local prefix, party, taken = keys[1], a[1], {}
  for _, cursor in ipairs(redis.call('ZRANGE', key(prefix, 'f', party), '(' .. a[2], '+inf', 'BYSCORE', 'LIMIT', 0, a[3])) do
    local entry = key(prefix, 'g', party, cursor)
    local fields = redis.call('HMGET', entry, 'e', 'n', 'r', 'k', 'm', 'a')
    local allowed = fields[1] ~= false
    if not allowed then redis.call('ZREM', key(prefix, 'f', party), cursor) end
    if allowed and fields[6] ~= '1' then
      for user in string.gmatch(fields[5], '[^,]+') do
        allowed = allowed and grants(prefix, user, fields[1], party .. '|' .. fields[4])
      end
      if not allowed then drop_group(prefix, party, cursor, 'withdrawn', a[4]) end
    end
    if allowed then
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
  redis.call('ZREM', key(prefix, 'o', a[1]), a[2])
  redis.call('ZADD', key(prefix, 'end', a[1]), redis.call('TIME')[1] + a[3], a[2])
  append_event(prefix, 'DELIVERED', a[4], a[5], a[6])
  return 'NEW'
end

-- ARGV: user tag, mark of the request, ttl s. From here on nothing of the user is taken or delivered (check 3 of 5.2).
-- Returns the mark that counts, then subject tag, EPOCH|PROX_ID… of what there is to erase; nothing if unknown.
local function gw_erase_begin(keys, a)
  local prefix, user = keys[1], a[1]
  if redis.call('EXISTS', key(prefix, 'e', user)) == 0 and redis.call('EXISTS', key(prefix, 'x', user)) == 0 then
    return {}
  end
  redis.call('SET', key(prefix, 'x', user), a[2], 'NX')
  return {redis.call('GET', key(prefix, 'x', user)), unpack(redis.call('HGETALL', key(prefix, 's', user)))}
end

-- ARGV: user tag, salt, party…: drops what holds the user and is not on the wire; the parties where it still is.
local function gw_settle_erasure(keys, a)
  local prefix, user, flying = keys[1], a[1], {}
  for i = 3, #a do
    local wait = false
    for _, cursor in ipairs(redis.call('ZRANGE', key(prefix, 'o', a[i]), 0, -1)) do
      local fields = redis.call('HMGET', key(prefix, 'g', a[i], cursor), 'm', 's')
      if fields[1] and string.find(fields[1], user, 1, true) then
        if fields[2] == '1' then wait = true
        else drop_group(prefix, a[i], cursor, 'erased', a[2]) end
      end
    end
    if wait then flying[#flying + 1] = a[i] end
  end
  return flying
end

-- ARGV: user tag, final mark, salt, header, payload, then for each person-epoch: subject tag, EPOCH, PROX_ID, name of
--       the evidence key. Deletes links and evidence keys with the event, once.
local function gw_erase_finish(keys, a)
  local prefix, user = keys[1], a[1]
  if redis.call('EXISTS', key(prefix, 's', user)) == 0 then return 0 end
  append_event(prefix, 'ERASED', a[3], a[4], a[5])
  for i = 6, #a, 4 do
    local tag = redis.call('GET', key(prefix, 'p', a[i + 2]))
    if tag then redis.call('DEL', key(prefix, 'k', tag)) end
    redis.call('DEL', key(prefix, 'ek', a[i]), a[i + 3], key(prefix, 'p', a[i + 2]), key(prefix, 'u', user, a[i + 1]),
      key(prefix, 'c', user, a[i + 1]))
  end
  redis.call('DEL', key(prefix, 's', user), key(prefix, 'e', user), key(prefix, 'ob', user))
  redis.call('SET', key(prefix, 'x', user), a[2])
  return 1
end

-- ARGV: user tag, 1 to object, 0 to take it back, salt, header, payload
local function gw_object(keys, a)
  local prefix, user = keys[1], a[1]
  if redis.call('EXISTS', key(prefix, 'e', user)) == 0 or redis.call('EXISTS', key(prefix, 'x', user)) == 1 then
    return 'UNKNOWN'
  end
  if a[2] == '1' then redis.call('SET', key(prefix, 'ob', user), '1') else redis.call('DEL', key(prefix, 'ob', user)) end
  append_event(prefix, 'OBJECTED', a[3], a[4], a[5])
  return 'NEW'
end

-- ARGV: salt, header, payload
local function gw_accessed(keys, a)
  return append_event(keys[1], 'ACCESSED', a[1], a[2], a[3])
end

-- ARGV: user tag, party…: what IS holds: pk_U, then person-epochs with their consent, then groups.
local function gw_share(keys, a)
  local prefix, user, epochs, groups = keys[1], a[1], {}, {}
  local subjects = redis.call('HVALS', key(prefix, 's', user))
  for _, value in ipairs(subjects) do
    local epoch = string.match(value, '^([^|]+)|')
    epochs[#epochs + 1] = {epoch, redis.call('HKEYS', key(prefix, 'c', user, epoch)),
      redis.call('HGET', key(prefix, 'c', user, epoch), 'v') or '0'}
  end
  for i = 2, #a do
    for _, cursor in ipairs(redis.call('ZRANGE', key(prefix, 'f', a[i]), 0, -1)) do
      local f = redis.call('HMGET', key(prefix, 'g', a[i], cursor), 'm', 'e', 'n', 'k', 'a', 'at')
      if f[1] and string.find(f[1], user, 1, true) then
        groups[#groups + 1] = {a[i], f[2], f[3], f[4], f[5], f[6] or ''}
      end
    end
  end
  return {redis.call('GET', key(prefix, 'e', user)) or '', epochs, groups,
    redis.call('EXISTS', key(prefix, 'ob', user))}
end

-- ARGV: salt, now s, party…: removes acknowledged groups whose time is over; how many.
local function gw_expire_feeds(keys, a)
  local prefix, gone = keys[1], 0
  for i = 3, #a do
    for _, cursor in ipairs(redis.call('ZRANGEBYSCORE', key(prefix, 'end', a[i]), '-inf', a[2], 'LIMIT', 0, 1000)) do
      redis.call('DEL', key(prefix, 'g', a[i], cursor))
      redis.call('ZREM', key(prefix, 'f', a[i]), cursor)
      redis.call('ZREM', key(prefix, 'end', a[i]), cursor)
      gone = gone + 1
    end
  end
  if gone > 0 then append_event(prefix, 'EXPIRED', a[1], cjson.encode({count = gone, kind = 'feeds'}), '') end
  return gone
end

-- ARGV: epoch: 1 if it is beyond what was said to expire before.
local function gw_links_expire(keys, a)
  local last = tonumber(redis.call('GET', key(keys[1], 'expired')) or '-1')
  local first = redis.call('GET', key(keys[1], 'first'))
  if not first or tonumber(a[1]) <= last or tonumber(a[1]) < tonumber(first) then return 0 end
  redis.call('SET', key(keys[1], 'expired'), a[1])
  return 1
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
redis.register_function('gw_settle_consent', gw_settle_consent)
redis.register_function('gw_close_streams', gw_close_streams)
redis.register_function('gw_reset_streams', gw_reset_streams)
redis.register_function('gw_take', gw_take)
redis.register_function('gw_untake', gw_untake)
redis.register_function('gw_delivered', gw_delivered)
redis.register_function('gw_expire_feeds', gw_expire_feeds)
redis.register_function('gw_links_expire', gw_links_expire)
redis.register_function('gw_erase_begin', gw_erase_begin)
redis.register_function('gw_settle_erasure', gw_settle_erasure)
redis.register_function('gw_erase_finish', gw_erase_finish)
redis.register_function('gw_object', gw_object)
redis.register_function('gw_accessed', gw_accessed)
-- While a library is loaded there is no `pairs`: one line each.
local function reads(name, fn)
  redis.register_function{function_name = name, callback = fn, flags = {'no-writes'}}
end
reads('gw_open', gw_open)
reads('gw_share', gw_share)
reads('gw_registration', gw_registration)
reads('gw_people', gw_people)
reads('gw_closings', gw_closings)
reads('gw_group', gw_group)
reads('gw_released_cursor', gw_released_cursor)
