-- Form `split` in the parties' feeds (DESIGN 8.11, 9): portions of entries, of which each goes or stays by its own person's
-- consent, and content messages, which name nobody. Keys and helpers are common.lua's; beside those:
--
--   g:PARTY:CURSOR  of a portion: t entries, i ids, m user tags and w names in the same order; of contents: t contents, r the
--                   message, y the second until which they are sent although somebody among them went. d the audience;
--                   z 1 once SENT is recorded
--   ge:PARTY:CURSOR hash id -> pair of a portion
--   ie:UTAG         set PARTY|EPOCH|AUDIENCE of what entries there were for whom
--   ct:PARTY:EPOCH:AUDIENCE  cursors of contents in the feed
--   cx:PARTY:EPOCH:AUDIENCE  somebody among those whose contents have not come yet went: 'soon' or 'none'
--   late:PARTY      sorted set of contents' cursors by the second after which they are not sent any more
--
-- Who goes takes back what is in the feed and was not sent. Contents that come afterwards, as they do within COMING of their
-- epoch's end, were formed without knowing: they go to a party that is connected then ('soon'), so that nobody denies
-- it a day by going at the right moment, and to no other. What comes later, or is of somebody erased, does not go ('none').

-- Seconds: that contents are sent at most; and within which a party that is connected takes what comes.
local DAY, SOON = 86400, 60

local function portion_of(prefix, party, cursor)
  local f = redis.call('HMGET', key(prefix, 'g', party, cursor), 'e', 'n', 'd', 'i', 'm', 'w')
  return {epoch = f[1], number = f[2], audience = f[3], ids = members_of(f[4]), users = members_of(f[5]),
    names = cjson.decode(f[6])}
end

-- DROPPED of entries: `left` of the portion stay.
local function dropped_entries(prefix, party, p, reason, salt, ids, users, left)
  local epoch, number = p.epoch, p.number
  local header = cjson.encode({audience = p.audience, entries = ids, epoch = tonumber(epoch), group = tonumber(number),
    left = left, party = party, reason = reason})
  append_event(prefix, 'DROPPED', salt, header, '')
  for _, user in ipairs(reason == 'erased' and users or {}) do
    local job = key(prefix, 'j', user)
    if left == 0 and redis.call('EXISTS', job) == 1 then
      redis.call('HSET', job, 'd', (redis.call('HGET', job, 'd') or '') .. epoch .. '/' .. number .. '/' .. party .. '\n')
    end
  end
end

-- Take entries out of a portion by why(user), a reason or nil; of each reason DROPPED, unless `quiet`. Returns how many stay.
local function keep_entries(prefix, party, cursor, why, salt, quiet)
  local p, entry = portion_of(prefix, party, cursor), key(prefix, 'g', party, cursor)
  local ids, users, names, gone = {}, {}, {}, {}
  for i, user in ipairs(p.users) do
    local reason = why(user)
    if reason then
      gone[reason] = gone[reason] or {ids = {}, users = {}}
      gone[#gone + 1] = #gone[reason].ids == 0 and reason or nil
      table.insert(gone[reason].ids, p.ids[i])
      table.insert(gone[reason].users, user)
      redis.call('HDEL', key(prefix, 'ge', party, cursor), p.ids[i])
      redis.call('SREM', key(prefix, 'ig', user), party .. '|' .. cursor)
    else
      ids[#ids + 1], users[#users + 1], names[#names + 1] = p.ids[i], user, p.names[i]
    end
  end
  if #gone == 0 then return #ids end
  if #ids == 0 then forget_group(prefix, party, cursor)
  else
    redis.call('HSET', entry, 'i', table.concat(ids, ','), 'm', table.concat(users, ','), 'w', cjson.encode(names))
  end
  local left = #p.ids
  for n, reason in ipairs(gone) do
    left = left - #gone[reason].ids
    if not quiet then
      dropped_entries(prefix, party, p, reason, redis.sha1hex(salt .. cursor .. n):sub(1, 16), gone[reason].ids,
        gone[reason].users, left)
    end
  end
  return #ids
end

-- E(pair, pair, …) of a portion.
local function portion_records(prefix, party, cursor)
  local ids, parts = members_of(redis.call('HGET', key(prefix, 'g', party, cursor), 'i')), {}
  for _, id in ipairs(ids) do
    local pair = redis.call('HGET', key(prefix, 'ge', party, cursor), id)
    parts[#parts + 1] = struct.pack('>I4', #pair) .. pair
  end
  return struct.pack('>I4', #ids) .. table.concat(parts)
end

-- Recorded before a byte leaves, once for what is sent: from here on the party may hold it.
local function sent(prefix, party, cursor, salt)
  local entry = key(prefix, 'g', party, cursor)
  local f = redis.call('HMGET', entry, 'e', 'n', 'i', 'z', 'd')
  if f[4] == '1' then return end
  redis.call('HSET', entry, 'z', '1')
  local header = {audience = f[5] or nil, epoch = tonumber(f[1]), group = tonumber(f[2]), party = party}
  if f[3] then header.entries = members_of(f[3]) end
  append_event(prefix, 'SENT', redis.sha1hex(salt .. 'z' .. cursor):sub(1, 16), cjson.encode(header), '')
end

-- Somebody with an entry of an epoch takes back what a party may get: contents that were not sent to it are dropped, and what
-- was sent and not acknowledged is not sent again. Of contents that have not come yet it is remembered.
local function drop_contents(prefix, party, epoch, audience, salt, strict)
  local mark, cursors = key(prefix, 'cx', party, epoch, audience), redis.call('SMEMBERS', key(prefix, 'ct', party, epoch, audience))
  if #cursors == 0 then
    if strict then redis.call('SET', mark, 'none', 'EX', DAY) else redis.call('SET', mark, 'soon', 'EX', DAY, 'NX') end
  end
  for _, cursor in ipairs(cursors) do
    local f = redis.call('HMGET', key(prefix, 'g', party, cursor), 'z', 'a')
    if f[2] == '0' and f[1] == '1' then redis.call('ZREM', key(prefix, 'f', party), cursor)
    elseif f[2] == '0' then
      drop_group(prefix, party, cursor, 'withdrawn', redis.sha1hex(salt .. 'c' .. cursor):sub(1, 16))
      redis.call('SREM', key(prefix, 'ct', party, epoch, audience), cursor)
    end
  end
end

-- Take out of a portion what may not go. The main service forms contents of an epoch without those whom it knows to have withdrawn in
-- it; whoever went otherwise may be in them. An unknown user ('-') was erased. coming: the first epoch whose contents may
-- still come. Returns how many stay.
local function keep_allowed(prefix, party, cursor, epoch, grant, salt, lost, coming)
  local audience = redis.call('HGET', key(prefix, 'g', party, cursor), 'd')
  local strike, strict = false, tonumber(epoch) < tonumber(coming)
  local left = keep_entries(prefix, party, cursor, function(user)
    local why = refusal(prefix, user, epoch, party .. '|' .. grant)
    strict = strict or user == '-' or why == 'erased'
    strike = strike or user == '-' or (why and why ~= 'no_consent')
    return why == 'no_consent' and lost or why
  end, salt)
  if strike then drop_contents(prefix, party, epoch, audience, salt, strict) end
  return left
end

-- Whether what is not acknowledged may go to a party: what may not is dropped, or not sent again; what may is SENT.
local function may_send(prefix, party, cursor, fields, salt, coming)
  if fields[9] == 'entries' then
    if keep_allowed(prefix, party, cursor, fields[1], fields[4], salt, 'withdrawn', coming) == 0 then return false end
  else
    local f = redis.call('HMGET', key(prefix, 'g', party, cursor), 'z', 'd', 'y')
    if f[1] == '1' and redis.call('SISMEMBER', key(prefix, 'ct', party, fields[1], f[2]), cursor) == 0 then
      redis.call('ZREM', key(prefix, 'f', party), cursor)  -- nobody could take it back any more
      return false
    elseif f[1] ~= '1' and f[3] and tonumber(f[3]) < tonumber(redis.call('TIME')[1]) then
      drop_group(prefix, party, cursor, 'withdrawn', salt)
      return false
    end
  end
  sent(prefix, party, cursor, salt)
  return true
end

local function handled(prefix, party, epoch, group, release)
  if tonumber(release) <= tonumber(redis.call('GET', key(prefix, 'released')) or '0') then return true end
  redis.call('SET', key(prefix, 'released'), release)
  redis.call('SET', key(prefix, 'last'), epoch .. '/' .. group .. '/' .. party)
  return false
end

local function next_cursor(prefix, party)
  local cursor = redis.call('INCR', key(prefix, 'cursor', party))
  redis.call('ZADD', key(prefix, 'f', party), cursor, cursor)
  redis.call('ZADD', key(prefix, 'o', party), cursor, cursor)
  return cursor
end

-- Named fields: party, epoch, group, audience, grant (TYPE|FIDELITY), release (MS's cursor), salt, alias_ttl (s), kept (s, for
--       which it is known whose entries they were), coming, entries (their number); then of each its user tag or '-', name, id, pair; then if names are aliases of each: salt, header, payload
local function gw_append_entries(keys, a)
  local prefix, f, rows = keys[1], named(a)
  local party, epoch, group, grant, salt, ttl = f.party, f.epoch, f.group, f.grant, f.salt, f.alias_ttl
  if handled(prefix, party, epoch, group, f.release) then return 'SAME' end
  local cursor, count, ids, users, names = next_cursor(prefix, party), tonumber(f.entries), {}, {}, {}
  local at = rows + 4 * count
  for i = 1, count do
    local user, name, id, pair = unpack(a, rows + 4 * i - 4, rows + 4 * i - 1)
    ids[i], users[i], names[i] = id, user, name
    redis.call('HSET', key(prefix, 'ge', party, cursor), id, pair)
    if user ~= '-' then
      redis.call('SADD', key(prefix, 'ig', user), party .. '|' .. cursor)
      redis.call('SADD', key(prefix, 'ie', user), party .. '|' .. epoch .. '|' .. f.audience)
      redis.call('EXPIRE', key(prefix, 'ie', user), f.kept)
    end
    if at <= #a then
      local alias = 'al:' .. party .. ':' .. name
      if not refusal(prefix, user, epoch, party .. '|' .. grant)
        and redis.call('SET', key(prefix, alias), '1', 'EX', ttl, 'NX') then
        own(prefix, user, tonumber(ttl), alias)
        append_event(prefix, 'ALIASED', a[at], a[at + 1], a[at + 2])
      end
      at = at + 3
    end
  end
  redis.call('HSET', key(prefix, 'g', party, cursor), 't', 'entries', 'e', epoch, 'n', group, 'k', grant, 'd', f.audience,
    'i', table.concat(ids, ','), 'm', table.concat(users, ','), 'w', cjson.encode(names), 's', '0', 'a', '0')
  local left = keep_allowed(prefix, party, cursor, epoch, grant, salt, 'no_consent', f.coming)
  return left == 0 and 'DROPPED' or 'NEW'
end

-- Named fields: party, epoch, group, audience, message, release (MS's cursor), salt, now (s)
local function gw_append_contents(keys, a)
  local prefix, f = keys[1], named(a)
  local party, epoch, group = f.party, f.epoch, f.group
  if handled(prefix, party, epoch, group, f.release) then return 'SAME' end
  local mark, waiting = key(prefix, 'cx', party, epoch, f.audience), key(prefix, 'ct', party, epoch, f.audience)
  local went = redis.call('GET', mark)
  redis.call('DEL', mark)
  if went == 'none' then
    dropped(prefix, party, epoch, group, 'withdrawn', f.salt, {}, {audience = f.audience})
    return 'DROPPED'
  end
  local cursor = next_cursor(prefix, party)
  redis.call('HSET', key(prefix, 'g', party, cursor), 't', 'contents', 'e', epoch, 'n', group, 'k', 'general', 'r', f.message, 'm', '',
    'd', f.audience, 'w', '[]', 's', '0', 'a', '0')
  if went then redis.call('HSET', key(prefix, 'g', party, cursor), 'y', redis.call('TIME')[1] + SOON) end
  redis.call('SADD', waiting, cursor)
  redis.call('EXPIRE', waiting, 2 * DAY)
  redis.call('ZADD', key(prefix, 'late', party), f.now + (went and SOON or DAY), cursor)
  return 'NEW'
end

-- What a person's change means for contents: with a reason (erasure, objection) those of all epochs with an entry of theirs;
-- else, if a party lost what it had, those of epochs before. Of this one the main service forms none with them.
local function settle_contents(prefix, user, reason, salt, coming)
  for _, name in ipairs(redis.call('SMEMBERS', key(prefix, 'ie', user))) do
    local party, of, audience = string.match(name, '^([^|]*)|(%d+)|(.*)$')
    if reason ~= '' or took_back(prefix, user, of, party .. '|general') then
      drop_contents(prefix, party, of, audience, salt, reason == 'erased' or tonumber(of) < tonumber(coming))
    end
  end
end

-- ARGV: now s, salt, party…: contents that wait too long are dropped; how many.
local function gw_drop_late(keys, a)
  local prefix, gone = keys[1], 0
  for i = 3, #a do
    for _, cursor in ipairs(redis.call('ZRANGEBYSCORE', key(prefix, 'late', a[i]), '-inf', a[1], 'LIMIT', 0, 1000)) do
      redis.call('ZREM', key(prefix, 'late', a[i]), cursor)
      local f = redis.call('HMGET', key(prefix, 'g', a[i], cursor), 't', 'z', 'a', 'y')
      if f[1] == 'contents' and f[2] ~= '1' and f[3] == '0' then
        local why = f[4] and 'withdrawn' or 'late'
        drop_group(prefix, a[i], cursor, why, redis.sha1hex(a[2] .. a[i] .. cursor):sub(1, 16), tonumber(a[1]))
        gone = gone + 1
      end
    end
  end
  return gone
end

redis.register_function('gw_append_entries', gw_append_entries)
redis.register_function('gw_append_contents', gw_append_contents)
redis.register_function('gw_drop_late', gw_drop_late)
