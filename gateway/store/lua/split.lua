-- Form `split` in the parties' feeds (DESIGN 8.11, 9): portions of entries, of which each goes or stays by its own person's
-- consent, and content messages, which name nobody. Keys and helpers are common.lua's; beside those:
--
--   g:PARTY:CURSOR  of a portion: t entries, i ids, m user tags and w names in the same order; of contents: t contents, r the
--                   message, y the second until which they are sent although somebody among them went. d the audience;
--                   z 1 once SENT is recorded
--   ge:PARTY:CURSOR hash id -> pair of a portion
--   ie:UTAG         set PARTY|EPOCH|AUDIENCE of what entries there were for whom
--   ct:PARTY:EPOCH:AUDIENCE  cursors of contents in the feed
--   cw:PARTY:EPOCH:AUDIENCE  hash of who went of those whose contents have not come yet, '-' if erased -> 'soon' or 'none'
--   late:PARTY      sorted set of contents' cursors by the second after which they are not sent any more
--
-- Who goes takes back what is in the feed and was not sent. Contents that come afterwards, as they do within COMING of their
-- epoch's end, were formed without knowing: they go to a party that is connected then ('soon'), so that nobody denies
-- it a day by going at the right moment, and to no other. What comes later, or is of somebody erased, does not go ('none').
-- Whom the main service confirmed in the epoch to leave out is in no contents of it: their going is forgotten again.

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
  for _, reason in ipairs(gone) do possibly_held(prefix, party, cursor, gone[reason].users) end
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

-- E(pair, pair, …) of a portion, and the ids of its entries.
local function portion_records(prefix, party, cursor)
  local held = redis.call('HGET', key(prefix, 'g', party, cursor), 'i')
  local ids, parts = members_of(held), {}
  for _, id in ipairs(ids) do
    local pair = redis.call('HGET', key(prefix, 'ge', party, cursor), id)
    parts[#parts + 1] = struct.pack('>I4', #pair) .. pair
  end
  return struct.pack('>I4', #ids) .. table.concat(parts), held
end

-- Recorded before a byte leaves, once for what is sent: from here on the party may hold it.
local function sent(prefix, party, cursor, salt)
  local entry = key(prefix, 'g', party, cursor)
  local f = redis.call('HMGET', entry, 'e', 'n', 'i', 'z', 'd', 'm', 'w')
  if f[4] == '1' then return end
  redis.call('HSET', entry, 'z', '1')
  held_by(prefix, party, {f[6], f[7]}, 0)
  local header = {audience = f[5] or nil, epoch = tonumber(f[1]), group = tonumber(f[2]), party = party}
  if f[3] then header.entries = members_of(f[3]) end
  append_event(prefix, 'SENT', redis.sha1hex(salt .. 'z' .. cursor):sub(1, 16), cjson.encode(header), '')
end

-- Somebody with an entry of an epoch takes back what a party may get: contents that were not sent to it are dropped, and what
-- was sent and not acknowledged is not sent again. Of contents that have not come yet it is remembered, as long as whose the
-- entries were. gone: of each who goes the user tag or '-', and whether nothing may go any more; kept: s, or nil.
local function drop_contents(prefix, party, epoch, audience, salt, gone, kept)
  local went, cursors = key(prefix, 'cw', party, epoch, audience), redis.call('SMEMBERS', key(prefix, 'ct', party, epoch, audience))
  for _, one in ipairs(#cursors == 0 and gone or {}) do
    local user, strict = one[1], one[2]
    redis.call(strict and 'HSET' or 'HSETNX', went, user, strict and 'none' or 'soon')
    local ttl = math.max(DAY, tonumber(kept or 0), redis.call('TTL', key(prefix, 'ie', user)))
    if redis.call('TTL', went) < ttl then redis.call('EXPIRE', went, ttl) end
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
-- still come; kept: as drop_contents. Returns how many stay.
local function keep_allowed(prefix, party, cursor, epoch, grant, salt, lost, coming, kept)
  local audience = redis.call('HGET', key(prefix, 'g', party, cursor), 'd')
  local gone, late = {}, tonumber(epoch) < tonumber(coming)
  local left = keep_entries(prefix, party, cursor, function(user)
    local why = refusal(prefix, user, epoch, party .. '|' .. grant)
    if user == '-' or (why and why ~= 'no_consent') then
      gone[#gone + 1] = {user, late or user == '-' or why == 'erased'}
    end
    return why == 'no_consent' and lost or why
  end, salt)
  if #gone > 0 then drop_contents(prefix, party, epoch, audience, salt, gone, kept) end
  return left
end

-- Whether what is not acknowledged may go to a party: what may not is dropped, or not sent again; what may is SENT.
local function may_send(prefix, party, cursor, fields, salt, coming)
  if fields[7] == 'entries' then
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
    'i', table.concat(ids, ','), 'm', table.concat(users, ','), 'w', cjson.encode(names), 'a', '0')
  local left = keep_allowed(prefix, party, cursor, epoch, grant, salt, 'no_consent', f.coming, f.kept)
  return left == 0 and 'DROPPED' or 'NEW'
end

-- Named fields: party, epoch, group, audience, message, release (MS's cursor), salt, now (s), due (s, from which it is not known
--       any more whose entries there were)
local function gw_append_contents(keys, a)
  local prefix, f = keys[1], named(a)
  local party, epoch, group = f.party, f.epoch, f.group
  if handled(prefix, party, epoch, group, f.release) then return 'SAME' end
  local who, waiting = key(prefix, 'cw', party, epoch, f.audience), key(prefix, 'ct', party, epoch, f.audience)
  local went, late = nil, tonumber(f.now) >= tonumber(f.due)
  for _, one in ipairs(redis.call('HVALS', who)) do went = went == 'none' and went or one end
  redis.call('DEL', who)
  if went == 'none' or late then
    local more = {audience = f.audience, time = late and tonumber(f.now) or nil}
    dropped(prefix, party, epoch, group, late and 'late' or 'withdrawn', f.salt, {}, more)
    return 'DROPPED'
  end
  local cursor = next_cursor(prefix, party)
  redis.call('HSET', key(prefix, 'g', party, cursor), 't', 'contents', 'e', epoch, 'n', group, 'k', 'general', 'r', f.message, 'm', '',
    'd', f.audience, 'w', '[]', 'a', '0')
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
      drop_contents(prefix, party, of, audience, salt, {{user, reason == 'erased' or tonumber(of) < tonumber(coming)}})
    end
  end
end

-- The main service forms the contents of this epoch ('' for none) without a person: that they went costs nobody those. Of who is
-- erased nothing but that somebody went is kept.
local function formed_without(prefix, user, epoch, erased)
  for _, name in ipairs(redis.call('SMEMBERS', key(prefix, 'ie', user))) do
    local party, of, audience = string.match(name, '^([^|]*)|(%d+)|(.*)$')
    local went = key(prefix, 'cw', party, of, audience)
    if erased and of ~= epoch and redis.call('HEXISTS', went, user) == 1 then redis.call('HSET', went, '-', 'none') end
    if of == epoch or erased then redis.call('HDEL', went, user) end
  end
end

-- ARGV: party, now s, salt, limit: contents that wait too long are dropped; how many, and how many were looked at.
local function gw_drop_late(keys, a)
  local prefix, party, gone = keys[1], a[1], 0
  local cursors = redis.call('ZRANGEBYSCORE', key(prefix, 'late', party), '-inf', a[2], 'LIMIT', 0, a[4])
  for _, cursor in ipairs(cursors) do
    redis.call('ZREM', key(prefix, 'late', party), cursor)
    local f = redis.call('HMGET', key(prefix, 'g', party, cursor), 't', 'z', 'a', 'y')
    if f[1] == 'contents' and f[2] ~= '1' and f[3] == '0' then
      local why = f[4] and 'withdrawn' or 'late'
      drop_group(prefix, party, cursor, why, redis.sha1hex(a[3] .. party .. cursor):sub(1, 16), tonumber(a[2]))
      gone = gone + 1
    end
  end
  return {gone, #cursors}
end

redis.register_function('gw_append_entries', gw_append_entries)
redis.register_function('gw_append_contents', gw_append_contents)
redis.register_function('gw_drop_late', gw_drop_late)
