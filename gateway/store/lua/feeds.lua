-- The parties' feeds: a group is appended whole or dropped whole, written, acknowledged (DESIGN 9, 11). Keys and helpers are common.lua's.

-- Named fields: party, epoch, group, grant (TYPE|FIDELITY), records, release (MS's cursor), salt, reason (to drop it, or
--       ''), alias_ttl (s), members (their number); then of each its user tag and the name that it is published under;
--       then if these are aliases of each: salt, header, payload
-- A group whose every member consents joins the feed; any other is dropped whole (DESIGN 7).
local function gw_append(keys, a)
  local prefix, f, rows = keys[1], named(a)
  local party, epoch, group, grant = f.party, f.epoch, f.group, f.grant
  if tonumber(f.release) <= tonumber(redis.call('GET', key(prefix, 'released')) or '0') then return 'SAME' end
  redis.call('SET', key(prefix, 'released'), f.release)
  redis.call('SET', key(prefix, 'last'), epoch .. '/' .. group .. '/' .. party)
  local members, names, reason, count = {}, {}, f.reason, tonumber(f.members)
  for i = 1, count do
    members[i], names[i] = a[rows + 2 * i - 2], a[rows + 2 * i - 1]
    if reason == '' then
      reason = members[i] == '' and 'no_consent' or refusal(prefix, members[i], epoch, party .. '|' .. grant) or ''
    end
  end
  if reason ~= '' then
    dropped(prefix, party, epoch, group, reason, f.salt, members)
    return 'DROPPED'
  end
  local at = rows + 2 * count
  for i = 1, at <= #a and count or 0 do
    local name = 'al:' .. party .. ':' .. names[i]
    if redis.call('SET', key(prefix, name), '1', 'EX', f.alias_ttl, 'NX') then
      own(prefix, members[i], tonumber(f.alias_ttl), name)
      append_event(prefix, 'ALIASED', a[at], a[at + 1], a[at + 2])
    end
    at = at + 3
  end
  local cursor = redis.call('INCR', key(prefix, 'cursor', party))
  redis.call('ZADD', key(prefix, 'f', party), cursor, cursor)
  redis.call('ZADD', key(prefix, 'o', party), cursor, cursor)
  redis.call('HSET', key(prefix, 'g', party, cursor), 'e', epoch, 'n', group, 'k', grant, 'r', f.records,
    'm', table.concat(members, ','), 'w', cjson.encode(names), 'a', '0')
  for _, user in ipairs(members) do redis.call('SADD', key(prefix, 'ig', user), party .. '|' .. cursor) end
  return 'NEW'
end

-- ARGV: party, after, limit, salt, the first epoch whose contents may still come. What may not go out any more is dropped; the
-- rest is SENT from here on, whenever its bytes leave. Contents are taken alone: once sent they are not sent again to whom somebody
-- among them leaves, so not before what comes before them was written. Behind it the last cursor that was looked at, if there may be more.
local function gw_take(keys, a)
  local prefix, party, taken = keys[1], a[1], {}
  local cursors = redis.call('ZRANGE', key(prefix, 'f', party), '(' .. a[2], '+inf', 'BYSCORE', 'LIMIT', 0, a[3])
  for _, cursor in ipairs(cursors) do
    local entry = key(prefix, 'g', party, cursor)
    local fields = redis.call('HMGET', entry, 'e', 'n', 'r', 'k', 'm', 'a', 't')
    local allowed, contents, held = fields[1] ~= false, fields[7] == 'contents', ''
    if contents and #taken > 0 then break end
    if not allowed then redis.call('ZREM', key(prefix, 'f', party), cursor) end
    if allowed and fields[6] == '1' then
      redis.call('ZREM', key(prefix, 'f', party), cursor)  -- of a store from before, and soon gone
      allowed = false
    elseif allowed and fields[7] then
      allowed = may_send(prefix, party, cursor, fields, a[4], a[5])
      if allowed and fields[7] == 'entries' then fields[3], held = portion_records(prefix, party, cursor) end
    elseif allowed then
      local why = nil
      for _, user in ipairs(members_of(fields[5])) do
        why = why or refusal(prefix, user, fields[1], party .. '|' .. fields[4])
      end
      allowed = not why
      if why then drop_group(prefix, party, cursor, why == 'no_consent' and 'withdrawn' or why, a[4])
      else sent(prefix, party, cursor, a[4]) end
    end
    if allowed then
      for _, item in ipairs({cursor, fields[1], fields[2], fields[3], held}) do taken[#taken + 1] = item end
      if contents then break end
    end
  end
  return {taken, #cursors == tonumber(a[3]) and cursors[#cursors] or ''}
end

-- ARGV: party, cursor: epoch, group, records, and the ids of a portion's entries; no records of what was acknowledged.
local function gw_group(keys, a)
  local f, held = redis.call('HMGET', key(keys[1], 'g', a[1], a[2]), 'e', 'n', 'r', 't'), ''
  if f[4] == 'entries' then f[3], held = portion_records(keys[1], a[1], a[2]) end
  return {f[1], f[2], f[3] or '', held}
end

-- Named fields: party, cursor, held (ids of the portion's entries, as they were read), retention (s), accepted (what the acknowledgement is named by), salt, header, payload
local function gw_delivered(keys, a)
  local prefix, f = keys[1], named(a)
  local party, cursor = f.party, f.cursor
  local entry = key(prefix, 'g', party, cursor)
  local fields = redis.call('HMGET', entry, 'e', 'a', 'i')
  if not fields[1] then return 'UNKNOWN' end
  if fields[2] == '1' then return 'SAME' end
  -- The digest that the party signed shows that it has the records. A group that lost a consent since they were read would be
  -- gone, a portion would have lost entries.
  if (fields[3] or '') ~= f.held then return 'UNKNOWN' end
  sent(prefix, party, cursor, f.salt)  -- which a gateway of version 2 did not record when the group was taken
  held_by(prefix, party, redis.call('HMGET', entry, 'm', 'w'), 1)
  local place = place_of(prefix, append_event(prefix, 'DELIVERED', f.salt, f.header, f.payload))
  redis.call('HSET', entry, 'dl', f.accepted .. '|' .. place)
  leave_feed(prefix, party, cursor, redis.call('TIME')[1], tonumber(f.retention))
  return 'NEW'
end

-- ARGV: party, after, limit, epoch…: the sealed feed keys of epochs that are forgotten, and of which nothing is in the feed any more,
-- go once the feed was looked through from 0 to its end; until then cursor and epochs for the next step.
local function gw_forget_keys(keys, a)
  local prefix, party, unused = keys[1], a[1], {}
  for _, epoch in ipairs(a[2] == '0' and redis.call('HKEYS', key(prefix, 'fk', party)) or {unpack(a, 4)}) do
    if redis.call('EXISTS', key(prefix, 'epoch', epoch)) == 0 then unused[epoch] = true end
  end
  local cursors = redis.call('ZRANGE', key(prefix, 'f', party), '(' .. a[2], '+inf', 'BYSCORE', 'LIMIT', 0, a[3])
  for _, cursor in ipairs(cursors) do
    local epoch = redis.call('HGET', key(prefix, 'g', party, cursor), 'e')
    if epoch then unused[epoch] = nil end
  end
  local further, left = #cursors == tonumber(a[3]), {cursors[#cursors]}
  for epoch in pairs(unused) do
    if further then left[#left + 1] = epoch else redis.call('HDEL', key(prefix, 'fk', party), epoch) end
  end
  return further and #left > 1 and left or {}
end

-- ARGV: party, salt, limit: groups that the party acknowledged while they stayed in the feed leave it; how many.
local function gw_expire_feeds(keys, a)
  local prefix, party = keys[1], a[1]
  local found, now = redis.call('ZRANGE', key(prefix, 'end', party), 0, a[3] - 1, 'WITHSCORES'), tonumber(redis.call('TIME')[1])
  for i = 1, #found, 2 do
    local at = redis.call('HGET', key(prefix, 'g', party, found[i]), 'at')
    leave_feed(prefix, party, found[i], at or '0', tonumber(found[i + 1]) - now)
  end
  if #found > 0 then append_event(prefix, 'EXPIRED', a[2], cjson.encode({count = #found / 2, kind = 'feeds'}), '') end
  return #found / 2
end

-- ARGV: party, salt, limit. What a party that left has not acknowledged is dropped; how many groups.
local function gw_drop_left(keys, a)
  local prefix, party = keys[1], a[1]
  local cursors = redis.call('ZRANGE', key(prefix, 'o', party), 0, a[3] - 1)
  for _, cursor in ipairs(cursors) do
    if redis.call('HGET', key(prefix, 'g', party, cursor), 't') == 'entries' then
      keep_entries(prefix, party, cursor, function() return 'party_left' end, a[2])
    else drop_group(prefix, party, cursor, 'party_left', redis.sha1hex(a[2] .. cursor):sub(1, 16)) end
  end
  return #cursors
end

local function gw_released_cursor(keys, a)
  return redis.call('GET', key(keys[1], 'released')) or '0'
end

redis.register_function('gw_append', gw_append)
redis.register_function('gw_take', gw_take)
reads('gw_group', gw_group)
redis.register_function('gw_delivered', gw_delivered)
redis.register_function('gw_forget_keys', gw_forget_keys)
redis.register_function('gw_expire_feeds', gw_expire_feeds)
redis.register_function('gw_drop_left', gw_drop_left)
reads('gw_released_cursor', gw_released_cursor)
